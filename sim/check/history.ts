/** X18: the history is a prefix of the log at any time, and the whole of it in the end. */
import type { Observation } from "../observation.ts";

export function checkHistory(seen: Observation, wrong: (law: string, says: string) => void): void {
  let before = 0;
  for (const { seq, head } of seen.history) {
    if (seq > head) wrong("X18", `the history stands at ${seq}, the log at ${head}`);
    if (seq < before && seq !== 0) wrong("X18", `the history went back from ${before} to ${seq}`);
    before = seq;
  }
  if (seen.historySeq !== seen.log.length && !wasDeleted(seen)) {
    wrong("X18", `the history ends at ${seen.historySeq}, the log at ${seen.log.length}`);
    return;
  }
  if (seen.parked > 0) wrong("X18", `${seen.parked} events are still parked`);
  for (const [table, rows] of Object.entries(seen.expectedRows)) {
    const ours = JSON.stringify(rows);
    const theirs = JSON.stringify(seen.rows[table]);
    if (ours !== theirs)
      wrong("X18", `the rows of ${table} are not those of the log: ${theirs?.slice(0, 300)} not ${ours.slice(0, 300)}`);
  }
}

const wasDeleted = ({ log }: Observation) => log.some(({ type }) => type === "conversation.deleted");
