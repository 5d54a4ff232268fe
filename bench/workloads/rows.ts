/** What one turn writes, of our own: the floor's rows are no measure, it keeps nothing that has to be kept. */
import { rowsOfTurns } from "../rows/rows.ts";
import type { Workload } from "./workload.ts";

export const rows: Workload = {
  name: "rows",
  about: "rows written in a turn with two confirmed calls and 15 s of text",
  async run({ sides, ours, modelUrl }) {
    const side = sides.find(({ peer }) => peer === ours);
    for (const [of, { rowsWritten, commits, alarms }] of Object.entries(await rowsOfTurns(modelUrl))) {
      // Each alarm that is set is billed as a row, and so is the claim of the start's key in the tenant's register.
      side?.add(`rows ${of}`, rowsWritten + alarms + 1);
      side?.add(`commits ${of}`, commits);
    }
  },
};
