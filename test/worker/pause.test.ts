/** A paused tenant: nothing of it starts, what is in flight finishes, and everything goes on when it is resumed. */
import { expect, test } from "vitest";
import { agree } from "./harness/agreement.ts";
import { signInOf } from "./harness/ledgers.ts";
import { signInTo } from "./harness/strangers.ts";
import { Talk } from "./harness/talk.ts";

const why = { "x-audit-reason": "a test" };
const note = { name: "book_note", arguments: { text: "hello" } };

test("no act and no model request starts until it is resumed", async () => {
  const person = await signInOf("paused for a while");
  const slow = { toolCalls: [{ name: "slow_lookup", arguments: { ms: 2_500 } }, note] };
  const talk = await Talk.open({ person, answers: [slow, { text: "Done." }] });
  const root = await signInTo("operations", "root", ["platform:admin"]);
  const order = (what: "pause" | "resume") =>
    root.ask("POST", `/v1/admin/tenants/${encodeURIComponent(person.tenantId)}/${what}`, { headers: why });
  const run = await talk.start();
  // The note runs beside the look-up, so it is booked already; what comes after it is what must wait.
  await talk.watcher.until("the calls", () => talk.of("tool_call.started", run).length === 2);
  await order("pause");
  await talk.watcher.until("the pause", () => talk.watcher.event("tenant.paused", run.id));
  await talk.watcher.until("the wait", () => talk.watcher.event("run.interrupted", run.id));
  expect(await person.client.run(run.id)).toMatchObject({ status: "interrupted", phase: "awaiting_budget" });
  expect(await talk.requests()).toHaveLength(1);
  await order("resume");
  await talk.ended(run);
  expect(await person.client.run(run.id)).toMatchObject({ status: "completed" });
  expect(await talk.bookings()).toHaveLength(1);
  expect(await talk.requests()).toHaveLength(2);
  await agree(talk);
});
