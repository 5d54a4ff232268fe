/** W8: a person confirms, the tool is called. W9: a person stops a run, the provider is let go. */
import { setTimeout } from "node:timers/promises";
import { newName, Talk } from "../load/talk.ts";
import { nowUs } from "../measure/clock.ts";
import { alternate, cpuOf } from "../measure/side.ts";
import type { Workload } from "./workload.ts";

const READING_MS = 40;

export const confirm: Workload = {
  name: "W8",
  about: "a person confirms, the tool's backend is called",
  async run({ sides, quick, times }) {
    const rounds = quick ? 15 : 80;
    await cpuOf(sides, "W8 cpu", {
      pieces: rounds,
      work: () =>
        alternate(sides, rounds, async (side) => {
          const talk = await new Talk(side.peer).connect();
          await talk.turn("n=1");
          const { run, proposal } = await talk.proposal("n=3");
          await setTimeout(READING_MS);
          const [told, ended] = [talk.until("tool"), talk.until("done")];
          const from = nowUs();
          talk.connection.confirm(proposal, true);
          side.add("W8 told", (await told).t - from);
          side.add("W8 done", (await ended).t - from);
          side.add("W8 called", ((await times(run)).calledAt ?? Number.NaN) - from);
          await talk.close();
        }),
    });
  },
};

export const stop: Workload = {
  name: "W9",
  about: "a person stops a run, the provider sees the abort",
  async run({ sides, quick, aborted }) {
    await alternate(sides, quick ? 12 : 60, async (side) => {
      const talk = await new Talk(side.peer).connect();
      await talk.turn("n=1");
      talk.reset();
      const run = newName("r");
      const under = talk.until("delta", () => talk.chars >= 40);
      const acked = talk.until("ack");
      talk.connection.send(`go [[id=${run} n=4000 d=5]]`, run);
      await Promise.all([acked, under]);
      const ended = talk.until("done");
      const from = nowUs();
      talk.connection.cancel(run);
      side.add("W9 ended", (await ended).t - from);
      side.add("W9 aborted", ((await aborted(run)).abortedAt ?? Number.NaN) - from);
      await talk.close();
    });
  },
};
