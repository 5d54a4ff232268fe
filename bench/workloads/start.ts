/** W1 and W2: a warm conversation and one client: the durable acknowledgement, and the model's first words. */
import { setTimeout } from "node:timers/promises";
import { newName, Talk } from "../load/talk.ts";
import { nowUs } from "../measure/clock.ts";
import { alternate, cpuOf } from "../measure/side.ts";
import type { Workload } from "./workload.ts";

const TURNS_PER_CONVERSATION = 26;
/** The first turns of a conversation are its own warm-up. */
const UNMEASURED = 3;

export const start: Workload = {
  name: "W1",
  about: "a keyed start is acknowledged, durably; the first words arrive (W2)",
  async run({ sides, quick }) {
    const turns = quick ? 52 : 260;
    const talks = new Map<unknown, Talk>();
    await cpuOf(sides, "W1 cpu", {
      pieces: turns,
      work: () =>
        alternate(sides, turns, async (side, round) => {
          const inConversation = round % TURNS_PER_CONVERSATION;
          if (inConversation === 0) {
            await talks.get(side)?.close();
            talks.set(side, await new Talk(side.peer).connect());
          }
          const turn = await talks.get(side)?.turn("n=3 ttft=15");
          if (!turn || inConversation < UNMEASURED) return;
          side.add("W1 ack", turn.ackAt - turn.sentAt);
          side.add("W2 first", turn.firstLag);
        }),
    });
    for (const talk of talks.values()) await talk.close();
    await alternate(sides, quick ? 2 : 4, async (side) => {
      const talk = await new Talk(side.peer).connect();
      await talk.turn("n=3");
      talk.keepsLags = true;
      await talk.turn("n=150 d=5 stamp=2");
      for (const lag of talk.lags) side.add("W2 lag", lag);
      await talk.close();
    });
  },
};

export const startOverHttp: Workload = {
  name: "W1h",
  about: "the same over plain HTTP, with the token checked on every request",
  async run({ sides, quick }) {
    const names = new Map(sides.map((side) => [side, newName("c")]));
    await alternate(sides, quick ? 25 : 120, async (side, round) => {
      const run = newName("r");
      const sentAt = nowUs();
      const status = await side.peer.post?.(names.get(side) ?? "", `go [[id=${run} n=1]]`, run);
      if (status !== 202) throw new Error(`${side.peer.name} answered ${status}`);
      if (round >= UNMEASURED) side.add("W1h answer", nowUs() - sentAt);
      // Until the run has ended: nobody watches it.
      await setTimeout(30);
    });
  },
};
