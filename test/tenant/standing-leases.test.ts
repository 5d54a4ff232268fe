import { describe, expect, test } from "vitest";
import { GOOD_STANDING, type Standing } from "../../src/protocol/standing.ts";
import { StandingLeases } from "../../src/tenant/standing-leases.ts";

const REVOKED: Standing = { validFrom: 100, deactivated: false, paused: false };
const ann = { tenantId: "acme", userId: "ann", tokenEpoch: 50 };

function leases(answers: () => Standing | Error) {
  const clock = { now: 10_000 };
  const asked: string[] = [];
  const failures: unknown[] = [];
  const known = new StandingLeases({
    ask: async (tenantId, userId) => {
      asked.push(`${tenantId}/${userId}`);
      const answer = answers();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    askAll: async (tenantId, userIds) => {
      asked.push(`${tenantId}/${userIds.join()}`);
      const answer = answers();
      if (answer instanceof Error) throw answer;
      return userIds.map((userId) => (userId === "bob" ? GOOD_STANDING : answer));
    },
    now: () => clock.now,
    leaseMs: 1_000,
    failed: (error) => void failures.push(error),
  });
  return { known, clock, asked, failures };
}

describe("what an isolate knows of a standing", () => {
  test("is believed for its lease and asked for anew after it, each person's by itself", async () => {
    const { known, clock, asked } = leases(() => GOOD_STANDING);
    for (const at of [10_000, 10_999, 11_000]) {
      clock.now = at;
      expect(await known.refusal(ann)).toBeNull();
    }
    await known.refusal({ ...ann, userId: "bob" });
    await known.refusal({ ...ann, tenantId: "acm", userId: "eann" });
    expect(asked).toEqual(["acme/ann", "acme/ann", "acme/bob", "acm/eann"]);
  });

  test("is as old as its question: one that took long to be answered is not believed for longer", async () => {
    const { known, clock, asked } = leases(() => {
      clock.now += 900;
      return GOOD_STANDING;
    });
    await known.refusal(ann);
    clock.now += 100;
    await known.refusal(ann);
    expect(asked).toHaveLength(2);
  });

  test("refuses a token from before the epoch, and lets in one from after it", async () => {
    const { known } = leases(() => REVOKED);
    expect(await known.refusal(ann)).toMatchObject({ code: "unauthenticated" });
    expect(await known.refusal({ tenantId: "acme", userId: "ann" })).toMatchObject({ code: "unauthenticated" });
    expect(await known.refusal({ ...ann, tokenEpoch: 100 })).toBeNull();
  });

  test("is learned of many in one question, which an old answer's lease does not spare", async () => {
    let answer = GOOD_STANDING;
    const { known, asked } = leases(() => answer);
    await known.refusal(ann);
    answer = REVOKED;
    await known.learn("acme", ["ann", "bob"]);
    expect([known.revoked(ann), known.revoked({ ...ann, userId: "bob" })]).toEqual([true, false]);
    expect(asked).toEqual(["acme/ann", "acme/ann,bob"]);
  });

  test("stays as it was where many cannot be asked about, and the log says so", async () => {
    const { known, failures } = leases(() => new Error("away"));
    await known.learn("acme", ["ann"]);
    expect([known.revoked(ann), failures.length]).toEqual([false, 1]);
  });

  test("refuses everybody where nobody can be asked, and says so in the log", async () => {
    const { known, failures } = leases(() => new Error("away"));
    expect(await known.refusal(ann)).toMatchObject({ code: "overloaded", retryAfterMs: 1_000 });
    expect(failures).toHaveLength(1);
  });

  test("tells without asking what it has learnt, also when that is old", async () => {
    const { known, clock } = leases(() => REVOKED);
    expect(known.revoked(ann)).toBe(false);
    await known.refusal(ann);
    clock.now += 3_600_000;
    expect(known.revoked(ann)).toBe(true);
  });
});

describe("a paused tenant", () => {
  const paused: Standing = { ...GOOD_STANDING, paused: true };
  const decision = (what: "approve" | "reject") => ({ toolCallId: "t", argsDigest: "d", decision: what });
  const resume = (body: object) => ({ type: "resume" as const, runId: "r", body });

  test.each([
    ["a cancel", { type: "cancel_run" as const, runId: "r", body: {} }, null],
    ["a drop from the queue", { type: "drop_run" as const, runId: "r", body: {} }, null],
    ["a no", resume({ decisions: [decision("reject")] }), null],
    ["an end at a limit", resume({ continuations: [{ limit: "maxSteps", decision: "stop" }] }), null],
    ["a yes", resume({ decisions: [decision("approve")] }), "paused"],
    ["a no and a yes", resume({ decisions: [decision("reject"), decision("approve")] }), "paused"],
    ["word of what happened", resume({ resolutions: [{ toolCallId: "t", outcome: "happened" }] }), "paused"],
    ["a start", { type: "start_run" as const, body: { input: { text: "hi" } } }, "paused"],
    ["sharing", { type: "put_participant" as const, userId: "bob", body: { role: "viewer" as const } }, "paused"],
  ])("answers %s with %s", async (_, command, code) => {
    const { known } = leases(() => paused);
    expect((await known.refusal(ann, command))?.code ?? null).toBe(code);
  });
});
