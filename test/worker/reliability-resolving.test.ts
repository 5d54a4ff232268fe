/** Unknown outcomes and the people who resolve them: over both ways in, once, and with the right to do so. */
import { describe, expect, test, vi } from "vitest";
import { acting, attempts, keysOf, posts, unknown, type Acting } from "./harness/acting.ts";
import { agree } from "./harness/agreement.ts";
import { resultsOf, toldCalls } from "./harness/calls.ts";
import type { Person } from "./harness/people.ts";
import { colleague } from "./harness/strangers.ts";

const range = (length: number) => Array.from({ length }, (_, i) => i);

describe("what became of a call whose outcome is unknown, people say", () => {
  const resolve = (who: Person, { run, call }: Acting, one: object) =>
    who.ask("POST", `/v1/runs/${run.id}/resume`, { body: { resolutions: [{ toolCallId: call.id, ...one }] } });
  const inbox = async (who: Person) => JSON.stringify(await who.client.confirmations());

  test.concurrent("it happened: with its result, which the model hears; it is in the inbox until then", async () => {
    const act = await acting("transfer", { mode: "commit_then_drop" });
    const { talk, run, call } = act;
    await unknown(act);
    const approver = await colleague(talk, "approver");
    const viewer = await colleague(talk, "viewer");
    await vi.waitFor(async () => expect(await inbox(approver)).toContain(call.id), 10_000);
    expect(await inbox(viewer)).not.toContain(call.id);
    const result = { transfer_id: "tr_9", recipient_id: "r", amount_cents: 500, status: "booked" };
    expect(await resolve(viewer, act, { outcome: "happened" })).toMatchObject({ status: 403 });
    expect(await resolve(approver, act, { outcome: "happened", result: { transfer_id: 7 } })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/resolutions/0/result" }] },
    });
    expect(await resolve(approver, act, { outcome: "happened", result })).toMatchObject({ status: 202 });
    expect(await resolve(talk.person, act, { outcome: "give_up" })).toMatchObject({
      status: 409,
      body: { code: "already_decided", decidedBy: { id: approver.userId } },
    });
    await talk.ended(run);
    expect(toldCalls((await talk.requests())[1])).toMatchObject([{ result: { success: true, data: result } }]);
    await vi.waitFor(async () => expect(await inbox(approver)).not.toContain(call.id), 10_000);
    await agree(talk);
    expect(await posts(act)).toHaveLength(1);
  });

  test.concurrent("it did not happen: that is a fresh yes, for these arguments, under the same key", async () => {
    const act = await acting("transfer", { mode: "500", times: 1 });
    const { talk, run, call } = act;
    await unknown(act);
    const over = (one: object) =>
      talk.watcher.command({ type: "resume", runId: run.id, resolutions: [{ toolCallId: call.id, ...one }] });
    expect(await over({ outcome: "did_not_happen" })).toMatchObject({ problem: { status: 422 } });
    expect(await over({ outcome: "did_not_happen", argsDigest: "A".repeat(43) })).toMatchObject({
      problem: { code: "digest_mismatch" },
    });
    expect(await over({ outcome: "did_not_happen", argsDigest: call.argsDigest })).toMatchObject({ type: "ack" });
    await talk.ended(run);
    expect(attempts(act)).toEqual([
      ["execute", 1],
      ["execute", 2],
    ]);
    expect((await keysOf(act)).size).toBe(1);
    expect(resultsOf(talk, run)).toMatchObject([{ success: true }]);
    await agree(talk);
    expect(await talk.bookings()).toHaveLength(1);
  });

  test.concurrent("of many at once, one counts", async () => {
    const act = await acting("transfer", { mode: "500", times: 1 });
    const { talk, run, call } = act;
    await unknown(act);
    const answers = await Promise.all(
      range(30).map((i) =>
        resolve(
          talk.person,
          act,
          i % 2 === 0 ? { outcome: "did_not_happen", argsDigest: call.argsDigest } : { outcome: "happened" },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...range(29).map(() => 409)]);
    await talk.ended(run);
    expect(talk.of("tool_call.resolved", run)).toHaveLength(1);
    await agree(talk);
    expect((await talk.bookings()).length).toBeLessThanOrEqual(1);
  });
});
