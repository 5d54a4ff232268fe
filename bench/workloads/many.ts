/** W5: many conversations at once. W6: one that has come a long way. W10: those that are met again after a crash. */
import { newName, Talk } from "../load/talk.ts";
import { nowUs } from "../measure/clock.ts";
import { alternate, cpuOf, type Side } from "../measure/side.ts";
import type { Workload } from "./workload.ts";

const AT_ONCE = 200;
const CONNECTING = 10;
/** Enough to touch each of the tenant's registers. */
const SHARED_TURNS = 60;

export const atOnce: Workload = {
  name: "W5",
  about: `${AT_ONCE} conversations at once`,
  async run({ sides, quick }) {
    const talks = new Map<Side, Talk[]>();
    for (const side of sides) {
      const opened = Array.from({ length: quick ? AT_ONCE / 2 : AT_ONCE }, () => new Talk(side.peer));
      for (let from = 0; from < AT_ONCE; from += CONNECTING) {
        await Promise.all(opened.slice(from, from + CONNECTING).map((talk) => talk.connect()));
      }
      talks.set(side, opened);
    }
    // One alone would say more of the machine than of the sides.
    const times = quick ? 3 : 5;
    await cpuOf(sides, "W5 cpu", {
      pieces: times,
      work: () =>
        alternate(sides, times, async (side) => {
          const turns = await Promise.all((talks.get(side) ?? []).map((talk) => talk.turn("n=50")));
          const took = turns.map(({ sentAt, doneAt }) => doneAt - sentAt).toSorted((a, b) => a - b);
          side.add("W5 p50", took[Math.floor(took.length / 2)] ?? 0);
          side.add("W5 p99", took[Math.floor(took.length * 0.99)] ?? 0);
          side.add("W5 resident", side.usage.residentMb());
        }),
    });
    for (const opened of talks.values()) await Promise.all(opened.map((talk) => talk.close()));
  },
};

export const long: Workload = {
  name: "W6",
  about: "a turn after 10, 100 and 1,000 others",
  async run({ sides, quick, times }) {
    const rounds = quick ? 5 : 12;
    for (const turns of quick ? [10, 100] : [10, 100, 1_000]) {
      const talks = new Map<Side, Talk>();
      for (const side of sides) {
        const conversation = newName("c");
        await side.peer.seed(conversation, turns);
        const talk = await new Talk(side.peer, conversation).connect();
        await talk.turn("n=5");
        talks.set(side, talk);
      }
      await cpuOf(sides, `W6 ${turns} cpu`, {
        pieces: rounds,
        work: () =>
          alternate(sides, rounds, async (side) => {
            const turn = await talks.get(side)?.turn("n=5 ttft=5");
            if (!turn) return;
            const { askedAt = 0 } = await times(turn.run);
            side.add(`W6 ${turns} ack`, turn.ackAt - turn.sentAt);
            side.add(`W6 ${turns} asked`, askedAt - turn.sentAt);
            side.add(`W6 ${turns} bytes up`, turn.bytesOut);
          }),
      });
      for (const talk of talks.values()) await talk.close();
    }
  },
};

export const afterCrash: Workload = {
  name: "W10",
  about: "the first message to a conversation after the service was killed",
  async run({ sides, quick }) {
    const known = quick ? 10 : 40;
    const names = new Map<Side, string[]>();
    await alternate(sides, known, async (side) => {
      const name = newName("c");
      const talk = await new Talk(side.peer, name).connect();
      await talk.turn("n=3");
      await talk.close();
      names.set(side, [...(names.get(side) ?? []), name]);
    });
    for (const side of sides) {
      await side.peer.restart();
      side.restarted();
      // What the conversations share is up again: the isolate, the tenant's objects.
      const talk = await new Talk(side.peer).connect();
      for (let turn = 0; turn < (quick ? SHARED_TURNS / 2 : SHARED_TURNS); turn++) await talk.turn("n=3");
      await talk.close();
    }
    await alternate(sides, known, async (side, round) => {
      const from = nowUs();
      const talk = await new Talk(side.peer, names.get(side)?.[round]).connect();
      const turn = await talk.turn("n=3");
      side.add("W10 ack", turn.ackAt - from);
      await talk.close();
    });
  },
};
