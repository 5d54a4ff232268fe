/** One process of the pool. The bug to plant, if any, is planted before anything of the service is loaded. */
import { plant } from "./planted/plant.ts";
import type { Stretch, StretchResult } from "./pool.ts";

plant(process.env["SIM_PLANTED"] ?? "");
const { Runner } = await import("./runner.ts");
const runner = new Runner();

process.on("message", (message) => {
  void run(message as Stretch).then((result) => process.send?.(result));
});
process.on("disconnect", () => process.exit(0));

async function run({ from, count }: Stretch): Promise<StretchResult> {
  const marks: Record<string, number> = {};
  const failed: { seed: number; violations: StretchResult["failed"][number]["violations"] }[] = [];
  let events = 0;
  for (let seed = from; seed < from + count; seed++) {
    const judged = await runner.run(seed);
    events += judged.events;
    for (const mark of judged.marks) marks[mark] = (marks[mark] ?? 0) + 1;
    if (judged.violations.length > 0) failed.push({ seed, violations: judged.violations });
  }
  return { schedules: count, events, marks, failed };
}
