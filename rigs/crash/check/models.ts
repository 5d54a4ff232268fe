/** X12, X19: the model is asked what a committed step asks, and no more often. */
import { groupBy } from "../../common/figures.ts";
import type { ConversationSeen, Wrong } from "../seen.ts";
import { eachHasItsOwn } from "./effects.ts";

export function checkModels({ seen: { log }, models, mark }: ConversationSeen, wrong: Wrong): void {
  const nameOf = new Map<string, string>();
  const started = new Map<string, number[]>();
  for (const event of log) {
    if (event.type === "run.queued") nameOf.set(event.runId ?? "", event.data.input.text.split(" ")[0] ?? "");
    if (event.type !== "step.started") continue;
    const name = nameOf.get(event.runId ?? "") ?? "";
    started.set(name, [...(started.get(name) ?? []), Date.parse(event.at)]);
  }
  for (const [name, asked] of groupBy(models, ({ message }) => message)) {
    if (!name.startsWith(`${mark}-`)) wrong("X20", `the model of ${mark} was told ${name}`);
    const starts = started.get(name) ?? [];
    if (
      !eachHasItsOwn(
        asked.map(({ at }) => at),
        starts,
      )
    ) {
      wrong("X19", `the model was asked ${asked.length} times about ${name}, for ${starts.length} steps`);
    }
  }
}
