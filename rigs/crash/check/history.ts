/** X18: the history was a prefix of the log at every kill that looked, and is the whole of it in the end, without holes. */
import type { ConversationSeen, Wrong } from "../seen.ts";

export function checkHistory({ seen }: ConversationSeen, wrong: Wrong): void {
  let before = 0;
  for (const { seq } of seen.history) {
    if (seq > seen.log.length) wrong("X18", `the history stood at ${seq}, and there are ${seen.log.length} events`);
    if (seq < before) wrong("X18", `the history went back from ${before} to ${seq}`);
    before = seq;
  }
  const end = Number(seen.rows["conversations"]?.[0]?.["seq"] ?? 0);
  if (end !== seen.log.length) wrong("X18", `the history ends at ${end}, the log at ${seen.log.length}`);
  for (const [table, expected] of Object.entries(seen.expectedRows)) {
    const rows = seen.rows[table] ?? [];
    if (rows.length !== expected.length) wrong("X18", `${table} has ${rows.length} rows, not ${expected.length}`);
    expected.forEach((row, n) => {
      const [theirs, ours] = [JSON.stringify(rows[n]), JSON.stringify(row)];
      if (theirs !== ours) wrong("X18", `${table} has ${theirs?.slice(0, 400)}, not ${ours.slice(0, 400)}`);
    });
  }
}
