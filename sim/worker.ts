/** One process of the pool. The bug to plant, if any, is planted before anything of the service is loaded. */
import { plant } from "./planted/plant.ts";
import type { Failure, Stretch, StretchResult } from "./pool.ts";

// Refused and killed writes are exceptions by the thousand.
Error.stackTraceLimit = 6;
plant(process.env["SIM_PLANTED"] ?? "");
const { Runner } = await import("./runner.ts");
const { interleavings, playAll } = await import("./small-scope.ts");
const runner = new Runner();

process.on("message", (message) => {
  const stretch = message as Stretch;
  void (stretch.smallScope ? small(stretch) : random(stretch)).then((result) => process.send?.(result));
});
process.on("disconnect", () => process.exit(0));

/** Thrown where nobody waits for it: the schedule that is being played has failed. */
const strays: unknown[] = [];
process.on("uncaughtException", (error) => void strays.push(error));
process.on("unhandledRejection", (error) => void strays.push(error));

async function random({ seeds, stopAtFirst }: Stretch): Promise<StretchResult> {
  const marks: Record<string, number> = {};
  const failed: Failure[] = [];
  let events = 0;
  let played = 0;
  for (const seed of seeds) {
    played += 1;
    const judged = await runner.run(seed);
    events += judged.events;
    for (const mark of judged.marks) marks[mark] = (marks[mark] ?? 0) + 1;
    const thrown = strays.splice(0).map((error) => ({ law: "plays to its end", says: String(error) }));
    const violations = [...judged.violations, ...thrown];
    if (violations.length === 0) continue;
    failed.push({ seed, violations });
    if (stopAtFirst) break;
  }
  return { schedules: played, events, marks, failed };
}

async function small({ seeds: [from = 0] }: Stretch): Promise<StretchResult> {
  const interleaving = interleavings()[from];
  if (!interleaving) return { schedules: 0, events: 0, marks: {}, failed: [] };
  const { played, failed } = await playAll(from + 1, interleaving, () => runner.databases());
  return {
    schedules: played,
    events: 0,
    marks: {},
    failed: failed.map(({ death, violations }) => {
      const note = `${interleaving.order.join(" ")} ${interleaving.gaps.join(" ")} ${JSON.stringify(death)}`;
      return { seed: from, note, violations };
    }),
  };
}
