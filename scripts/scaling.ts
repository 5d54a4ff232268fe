/**
 * `npm run scaling [-- --conversations N --tenants N --skew S --turns N]`: a day of many conversations in counts, and which
 * object is the hottest. See docs/scaling.md.
 */
import { parseArgs } from "node:util";
import { ASKED, hottest, largestTenant, type Day } from "../bench/scaling/day.ts";
import { randomOf } from "../sim/random.ts";
import { finish } from "./report.ts";

const { values } = parseArgs({
  options: {
    conversations: { type: "string", default: "1000000" },
    tenants: { type: "string", default: "1000" },
    skew: { type: "string", default: "1" },
    turns: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
  },
});
const day: Day = {
  conversations: Number(values.conversations),
  tenants: Number(values.tenants),
  skew: Number(values.skew),
  turnsPerConversation: Number(values.turns),
  pauseSeconds: 60,
  peak: 2,
  budgets: true,
};

/** Requests per second that one object answers, as the platform's documentation gives it; a simple one reaches it. */
const OBJECT_PER_SECOND = 1_000;
/** Batches of a turn that one database takes, at five milliseconds each. */
const DATABASE_PER_SECOND = 200;

const rounded = (value: number): number => Math.round(value * 10) / 10;
const objects = hottest(day, randomOf(Number(values.seed), "day")).map(({ object, ...rates }) => {
  const limit = object === "history" ? DATABASE_PER_SECOND : OBJECT_PER_SECOND;
  const perSecond = rounded(rates.perSecond);
  return {
    object,
    asked: ASKED[object === "ledger of the service" ? "ledger" : object],
    perSecond,
    perSecondInPeakHour: rounded(rates.perSecondInPeakHour),
    limit,
    share: rounded((100 * perSecond) / limit),
  };
});
const largest = largestTenant(day);
console.log(`${day.conversations} conversations a day, ${day.tenants} tenants, the largest has ${largest}`);
for (const { object, perSecond, perSecondInPeakHour, limit, share } of objects) {
  console.log(
    `${object.padEnd(22)} ${String(perSecond).padStart(7)} a second in the busiest second, ` +
      `${perSecondInPeakHour} over the busiest hour (${share} % of ${limit})`,
  );
}
const [first] = objects.toSorted((a, b) => b.share - a.share);
finish(true, { day, largestTenant: largest, objects, hottest: first?.object });
