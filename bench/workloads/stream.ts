/** W3: many deltas to one watcher. W4: to many. W7: to one who comes back. */
import { setTimeout } from "node:timers/promises";
import { newName, Talk } from "../load/talk.ts";
import { nowUs } from "../measure/clock.ts";
import { alternate, cpuOf } from "../measure/side.ts";
import type { Workload } from "./workload.ts";

const CHARS_PER_DELTA = 5;

export const burst: Workload = {
  name: "W3",
  about: "2,000 and 20,000 deltas as fast as they come",
  async run({ sides, quick }) {
    const talks = new Map(sides.map((side) => [side, new Talk(side.peer)]));
    for (const talk of talks.values()) await (await talk.connect()).turn("n=200");
    for (const [deltas, times] of [
      [2_000, quick ? 4 : 10],
      [20_000, quick ? 1 : 4],
    ] as const) {
      const of = `W3 ${deltas}`;
      await cpuOf(sides, `${of} cpu`, {
        pieces: deltas * times,
        work: () =>
          alternate(sides, times, async (side) => {
            const turn = await talks.get(side)?.turn(`n=${deltas}`);
            if (turn?.chars !== deltas * CHARS_PER_DELTA) throw new Error(`${side.peer.name}: text is missing`);
            side.add(`${of} total`, turn.doneAt - turn.sentAt);
            side.add(`${of} bytes`, turn.bytesIn / deltas);
          }),
      });
    }
    for (const talk of talks.values()) await talk.close();
  },
};

const WATCHERS = 50;
const WATCHED_DELTAS = 500;

export const crowd: Workload = {
  name: "W4",
  about: `${WATCHERS} watchers and ${WATCHED_DELTAS} deltas`,
  async run({ sides, quick, times }) {
    await alternate(sides, quick ? 1 : 4, async (side) => {
      const conversation = newName("c");
      const lead = await new Talk(side.peer, conversation).connect();
      await lead.turn("n=3");
      const talks = [lead];
      for (let watcher = 0; watcher < WATCHERS; watcher++) {
        talks.push(await new Talk(side.peer, conversation).connect({ watcher }));
      }
      const whole = WATCHED_DELTAS * CHARS_PER_DELTA;
      for (const talk of talks) talk.reset();
      const all = talks.map((talk) => talk.until("delta", () => talk.chars >= whole));
      const cpu = side.usage.cpuUs();
      const turn = lead.turn(`n=${WATCHED_DELTAS} ttft=300`);
      const [{ run }] = await Promise.all([turn, Promise.race([Promise.all(all), setTimeout(30_000)])]);
      side.add("W4 cpu", side.usage.cpuUs() - cpu);
      side.add(
        "W4 all",
        Math.max(...talks.map(({ lastDeltaAt }) => lastDeltaAt)) - ((await times(run)).firstDeltaAt ?? 0),
      );
      side.add("W4 dropped", talks.reduce((sum, { chars }) => sum + Math.max(0, whole - chars), 0) / CHARS_PER_DELTA);
      for (const talk of talks) await talk.close();
    });
  },
};

const MISSED_DELTAS = 2_000;

export const comeBack: Workload = {
  name: "W7",
  about: `catching up after ${MISSED_DELTAS} deltas of a message that goes on`,
  async run({ sides, quick }) {
    const whole = MISSED_DELTAS * CHARS_PER_DELTA;
    await alternate(sides, quick ? 4 : 12, async (side) => {
      const conversation = newName("c");
      const first = await new Talk(side.peer, conversation).connect();
      const run = newName("r");
      const acked = first.until("ack");
      const shown = first.until("delta", () => first.chars >= whole);
      first.connection.send(`go [[id=${run} n=${MISSED_DELTAS} hang=1]]`, run);
      const { native = run } = await acked;
      await shown;
      await first.close();
      const again = new Talk(side.peer, conversation);
      const caughtUp = again.until("delta", () => again.chars >= whole);
      const from = nowUs();
      await again.connect({ cursor: 0 });
      side.add("W7 caught up", (await caughtUp).t - from);
      side.add("W7 bytes", again.connection.bytesIn());
      const ended = again.until("done");
      again.connection.cancel(native);
      await ended;
      await again.close();
    });
  },
};
