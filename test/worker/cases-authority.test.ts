/** Cases S37 and S68, on sockets that are open already: what somebody may do is asked at each frame, and at each event. */
import { expect, test } from "vitest";
import { agree, eventsOverRest } from "./harness/agreement.ts";
import { signIn, TENANT } from "./harness/people.ts";
import { colleague } from "./harness/strangers.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const PROPOSE = { fixture: "common_propose_transfer" };

async function waiting() {
  const talk = await Talk.open({ answers: [PROPOSE, COMMON_TEXT] });
  const { run, calls } = await talk.ask();
  const [call] = calls;
  const decision = { toolCallId: call?.id, argsDigest: call?.argsDigest, decision: "approve" };
  return { talk, run, call, approval: { type: "resume", runId: run.id, decisions: [decision] } };
}

test.concurrent("a sign-in that has ended decides nothing, though its socket slept through the end; the run waits on", async () => {
  const { talk, run, call } = await waiting();
  const brief = await talk.newWatcher(await signIn(talk.person.userId, TENANT, 3)).connect();
  await talk.evict();
  await brief.until("its end", () => brief.closed);
  expect(brief.closed).toMatchObject({ code: 3000 });
  // Nothing reaches it any more, and there is nothing to send on: it comes back with a sign-in that counts.
  await expect(brief.connect()).rejects.toThrow("401");
  expect(await talk.bookings()).toEqual([]);
  expect((await talk.person.client.run(run.id)).pending).toEqual([call]);
  await talk.decide(run, call, "approve");
  await talk.ended(run);
  expect(await talk.bookings()).toHaveLength(1);
  await agree(talk);
});

test.concurrent("a place that is taken away ends its socket with the very event that tells of it", async () => {
  const { talk, run, call } = await waiting();
  const bob = await colleague(talk, "approver");
  const watching = await talk.newWatcher(bob).connect();
  const path = `/v1/conversations/${talk.id}/participants/${bob.userId}`;
  expect((await talk.person.call("DELETE", path)).status).toBe(204);
  await watching.until("its end", () => watching.closed);
  expect(watching.closed).toMatchObject({ code: 3003 });
  expect(watching.view.events.map(({ type }) => type)).not.toContain("participant.removed");
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
});

test.concurrent("a place that is lowered sees and may less from the next frame on", async () => {
  const { talk, run, call, approval } = await waiting();
  const bob = await colleague(talk, "approver");
  const watching = await talk.newWatcher(bob).connect();
  await watching.until("the question", () => watching.event("run.interrupted", run.id));
  expect(JSON.stringify(watching.view.events)).toContain("recipient_id");
  const seen = talk.events.length;
  const path = `/v1/conversations/${talk.id}/participants/${bob.userId}`;
  expect((await talk.person.call("PUT", path, { body: { role: "viewer" } })).status).toBe(200);
  const refused = await watching.command(approval);
  expect(refused).toMatchObject({ type: "problem", problem: { code: "forbidden" } });
  expect(await talk.bookings()).toEqual([]);
  await talk.decide(run, call, "approve");
  const end = await talk.ended(run);
  await watching.until("the end", () => watching.view.events.some(({ seq }) => seq === end.seq));
  const after = watching.view.events.filter(({ seq }) => seq > seen);
  expect(after.map(({ type }) => type)).toContain("tool_call.finished");
  expect(JSON.stringify(after)).not.toMatch(/recipient_id|idempotencyKey|amount_cents/);
  await agree(talk);
});

test.concurrent("a socket of one's own conversation reaches nothing of another's", async () => {
  const { talk, run, call, approval } = await waiting();
  const other = await Talk.open();
  const before = await eventsOverRest(talk);
  for (const frame of [approval, { type: "cancel_run", runId: run.id }]) {
    const answer = await other.watcher.command(frame);
    expect(answer).toMatchObject({ type: "problem", problem: { code: "not_found" } });
  }
  expect(await eventsOverRest(talk)).toEqual(before);
  expect(await talk.bookings()).toEqual([]);
  await talk.decide(run, call, "reject");
  await talk.ended(run);
  await agree(talk);
  await agree(other);
});
