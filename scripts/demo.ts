/**
 * `npm run demo`: the promise, played on the real service. Greeting → list → create → the confirmation is asked → the
 * process is killed with SIGKILL → started again → confirmed → executed once → the history in D1 equals the actor's log.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldpointClient } from "../src/client/client.ts";
import { ProblemError } from "../src/client/http.ts";
import { Watch } from "../src/client/watch.ts";
import type { Event } from "../src/protocol/events.ts";
import type { Run } from "../src/protocol/run.ts";
import { historyRows } from "./local-d1.ts";
import { finish } from "./report.ts";
import { freePort, startService, type Service } from "./service.ts";

const stateDir = mkdtempSync(join(tmpdir(), "holdpoint-demo-"));
const port = await freePort();
const checks: { step: string; ok: boolean }[] = [];
let service: Service | null = null;

function show(step: string, ok: boolean, evidence: string): void {
  checks.push({ step, ok });
  console.log(`${ok ? "✓" : "✗"} ${step}\n    ${evidence}`);
}

async function until<T>(what: string, find: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (const start = Date.now(); Date.now() - start < 30_000;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`waited in vain for ${what}`);
}

async function play(): Promise<void> {
  service = await startService({ port, stateDir });
  const { baseUrl } = service;
  show("the service starts by itself", true, baseUrl);
  const signIn = await fetch(`${baseUrl}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId: "demo-user" }),
  });
  const { token } = (await signIn.json()) as { token: string };
  const client = new HoldpointClient({ baseUrl, token: () => token });
  const conversation = await client.createConversation({ agent: "planner" });
  const beginning = `${conversation.headCursor.split(".")[0] ?? ""}.0`;
  const watch = new Watch(client.connection, conversation.id, { after: beginning });
  const ended = (run: Run) =>
    until(`the end of ${run.id}`, () => watch.view.events.find((event) => event.runId === run.id && isEnd(event)));

  const greeting = await client.startRun(conversation.id, { text: "hello" });
  await ended(greeting);
  show("a greeting is answered, streamed over WebSocket", true, lastText(watch.view.events));

  const list = await client.startRun(conversation.id, { text: "list my plans" });
  await ended(list);
  show("a read needs no confirmation", called(watch.view.events, "list_plans"), lastText(watch.view.events));

  const create = await client.startRun(conversation.id, { text: "please create a plan to visit Kyoto in spring" });
  const asked = await until("the confirmation", () =>
    watch.view.events.find((event) => event.type === "run.interrupted" && event.runId === create.id),
  );
  const overSocket = asked.type === "run.interrupted" && asked.data.needsConfirmation;
  const before = await client.conversation(conversation.id);
  const [pending] = before.pending;
  if (!pending) throw new Error("nothing is pending");
  show("the write waits for a yes: WebSocket", overSocket, JSON.stringify({ needsConfirmation: overSocket }));
  show(
    "the write waits for a yes: REST",
    before.needsConfirmation && pending.state === "awaiting_confirmation",
    JSON.stringify({ needsConfirmation: before.needsConfirmation, tool: pending.tool, args: pending.args }),
  );

  await service.kill();
  show("SIGKILL to the whole process group", true, `port ${port} is free`);
  service = await startService({ port, stateDir });
  const after = await client.conversation(conversation.id);
  const same = after.pending[0]?.argsDigest === pending.argsDigest && after.needsConfirmation;
  show("started again: the confirmation is still there", same, `argsDigest ${after.pending[0]?.argsDigest}`);

  const decision = { toolCallId: pending.id, argsDigest: pending.argsDigest, decision: "approve" } as const;
  await client.resume(create.id, { decisions: [decision] });
  await ended(create);
  const starts = watch.view.events.filter((event) => event.type === "tool_call.started" && event.runId === create.id);
  const run = await client.run(create.id);
  show("confirmed: executed once", run.status === "completed" && starts.length === 1, lastText(watch.view.events));

  const second = await client.resume(create.id, { decisions: [decision] }).catch((error: unknown) => error);
  const refused = second instanceof ProblemError && second.problem.code === "already_decided";
  show(
    "a second decision is refused, and says who and when",
    refused,
    second instanceof Error ? second.message : "accepted",
  );

  const again = await client.startRun(conversation.id, { text: "list my plans" });
  await ended(again);
  show("the plan is there", lastText(watch.view.events).includes("Kyoto"), lastText(watch.view.events));

  const messages = await client.messages(conversation.id);
  const head = watch.view.events.at(-1)?.seq;
  const rows = await until("the history in D1", () => {
    const found = historyRows(stateDir, conversation.id);
    return found && found.messages.length === messages.data.length && found.asOfSeq === head ? found : undefined;
  });
  const equal = messages.data.every((message, i) => {
    const row = rows.messages[i];
    return (
      row?.id === message.id && row.seq === message.seq && JSON.stringify(row.parts) === JSON.stringify(message.parts)
    );
  });
  show("history from D1 equals the actor's", equal, `${rows.messages.length} messages, as of seq ${rows.asOfSeq}`);
  const { gaps, repeats } = watch.view;
  show(
    "the watcher saw every event once, through the kill",
    gaps === 0 && repeats === 0,
    `${head} events, ${gaps} gaps`,
  );
  watch.stop();
}

const isEnd = (event: Event) => ["run.completed", "run.failed", "run.cancelled"].includes(event.type);
const called = (events: readonly Event[], tool: string) =>
  events.some((event) => event.type === "tool_call.started" && event.data.tool === tool);

function lastText(events: readonly Event[]): string {
  const message = events.findLast((event) => event.type === "message.completed");
  const part =
    message?.type === "message.completed" ? message.data.message.parts.find(({ type }) => type === "text") : null;
  return part?.type === "text" ? part.text.replaceAll("\n", " ") : "";
}

const started = Date.now();
let failure: string | undefined;
try {
  await play();
} catch (error) {
  failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  console.error(failure);
  // The service as TypeScript sees it here is still null: it was set inside `play`.
  console.error((service as Service | null)?.output().split("\n").slice(-40).join("\n"));
} finally {
  await (service as Service | null)?.stop();
}
const ok = failure === undefined && checks.every((check) => check.ok);
if (ok) rmSync(stateDir, { recursive: true, force: true });
else console.error(`the data is kept in ${stateDir}`);
finish(ok, {
  steps: checks.length,
  failed: checks.filter((check) => !check.ok).map(({ step }) => step),
  ms: Date.now() - started,
});
