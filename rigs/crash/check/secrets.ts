/** X7, X20, X21: nothing came to the backend that no conversation sent; nothing of one in another; no secret anywhere. */
import type { SeedSeen, Wrong } from "../seen.ts";

export function checkSecrets({ conversations, requests, secrets, serviceLog }: SeedSeen, wrong: Wrong): void {
  const keys = new Set(
    conversations.flatMap(({ seen }) =>
      seen.log.flatMap((event) => (event.type === "tool_call.proposed" ? [event.data.idempotencyKey] : [])),
    ),
  );
  for (const { key, body } of requests) {
    if (!keys.has(key)) wrong("X7", `the backend was asked for something that no log knows: ${JSON.stringify(body)}`);
  }
  for (const { mark, seen, connections } of conversations) {
    const rows = JSON.stringify(seen.rows);
    const shown = [...seen.logJson, rows];
    for (const other of conversations) {
      if (other.mark === mark) continue;
      const foreign = new RegExp(`${other.mark}[-/]`);
      if (shown.some((text) => foreign.test(text))) wrong("X20", `something of ${other.mark} is in ${mark}`);
      if (connections.some(({ frames }) => frames.some((text) => foreign.test(text)))) {
        wrong("X20", `a watcher of ${mark} was shown something of ${other.mark}`);
      }
    }
    for (const secret of secrets) {
      if (shown.some((text) => text.includes(secret))) wrong("X21", `a secret is in the log or the rows of ${mark}`);
    }
  }
  if (secrets.some((secret) => serviceLog.includes(secret))) wrong("X21", "a secret is in the service's output");
}
