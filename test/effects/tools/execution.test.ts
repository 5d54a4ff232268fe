import { expect, test } from "vitest";
import { type Execution } from "../../../src/tools/define-tool.ts";
import { AmbiguousOutcome, notSent, ok, refused } from "../../../src/tools/outcome.ts";
import { callOf, house, principal, runOf } from "./house.ts";
import { run, tool, type Definition, type Execute } from "./acting.ts";

test("a tool is called with the stored identity, the outside key, the attempt and what was expected", async () => {
  const seen: { args: unknown; call: Execution<unknown> }[] = [];
  const execute: Execute = async (args, call) => {
    seen.push({ args, call });
    return ok({ fine: true });
  };
  const { result, call } = await run(
    execute,
    { preview: () => ({ rows: [], expect: { version: 2 } }) },
    { attempt: 3, authHeader: "Bearer abcdefgh" },
  );
  expect(result).toMatchObject({
    kind: "ok",
    payload: { success: true, data: { fine: true }, displayText: "Act: done.", source: "tool" },
  });
  expect(seen).toMatchObject([
    {
      args: {},
      call: {
        ctx: { tenantId: "t1", userId: "user-a", toolCallId: call.id },
        idempotencyKey: call.idempotencyKey,
        attempt: 3,
        expect: { version: 2 },
        authHeader: null,
      },
    },
  ]);
});

test("proof that nothing happened is told as failed, with the tool's code and a clean sentence", async () => {
  expect((await run(async () => notSent("NO_FUNDS", "Not enough money."))).result).toEqual({
    kind: "failed",
    proof: "not_sent",
    payload: expect.objectContaining({
      success: false,
      displayText: "Act failed: Not enough money.",
      error: { layer: "tool", code: "NO_FUNDS", message: "Not enough money.", retryable: false },
    }),
  });
  const body = "x".repeat(5_000);
  const gateway = await run(async () =>
    refused("GATEWAY_FORBIDDEN", "No.", { layer: "gateway", http: { status: 403, body } }),
  );
  expect(gateway.result).toMatchObject({
    kind: "failed",
    proof: "definitive",
    payload: { error: { layer: "gateway", http: { status: 403 } } },
  });
  expect(JSON.stringify(gateway.result).length).toBeLessThan(2_000);
});

test.each<[string, Execute]>([
  ["throws", () => Promise.reject(new Error("socket hang up at Bearer abc.def.ghi"))],
  [
    "throws at once",
    () => {
      throw new TypeError("no promise");
    },
  ],
  [
    "throws no error",
    () =>
      Promise.reject({
        toString() {
          throw new Error("gotcha");
        },
      }),
  ],
  ["throws nothing", () => Promise.reject(undefined)],
])("a tool that %s may have acted, and nothing of what was thrown is told", async (_, execute) => {
  const { result, logged } = await run(execute);
  expect(result).toMatchObject({
    kind: "ambiguous",
    reason: "ambiguous",
    repeatable: true,
    error: { code: "tool_failed", message: "The tool failed." },
  });
  expect(logged.map(({ event }) => event)).toEqual(["tool_threw"]);
});

test("a declared ambiguous outcome keeps its code and its cleaned sentence", async () => {
  const failure = {
    code: "GATEWAY_UNAVAILABLE",
    message: "No answer.\n    at fetch (x.js:1:1)",
    retryable: true,
    layer: "transport",
  } as const;
  const { result } = await run(() => Promise.reject(new AmbiguousOutcome(failure, new Error("cause"))));
  expect(result).toMatchObject({
    kind: "ambiguous",
    error: { layer: "transport", code: "GATEWAY_UNAVAILABLE", message: "No answer.", retryable: true },
  });
});

test("a time-out is ambiguous, even when the tool ignores its signal, and the tool is told", async () => {
  let signal: AbortSignal | undefined;
  const at = await house([tool((_, call) => new Promise(() => void (signal = call.signal)), { timeoutMs: 500 })]);
  const pending = at.execute(callOf(await at.ready("act", {})));
  await expect.poll(() => signal).toBeDefined();
  at.clock.turn(500);
  expect((await pending).result).toMatchObject({ kind: "ambiguous", reason: "timeout", error: { code: "timeout" } });
  expect(signal?.aborted).toBe(true);
  expect(at.clock.standing).toBe(0);
});

test("an abort is ambiguous soon, unless the tool says in time what it did", async () => {
  const abort = new AbortController();
  let started = false;
  const deaf = await house([tool(() => new Promise(() => void (started = true)))]);
  const pending = deaf.execute(callOf(await deaf.ready("act", {})), { signal: abort.signal });
  await expect.poll(() => started).toBe(true);
  abort.abort();
  deaf.clock.turn(deaf.settings.abortSettleMs);
  expect((await pending).result).toMatchObject({ kind: "ambiguous", reason: "cancelled" });

  const honest: Execute = (_, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve(notSent("cancelled", "Nothing was sent yet."))),
    );
  const second = new AbortController();
  const told = await house([tool(honest)]);
  const answer = told.execute(callOf(await told.ready("act", {})), { signal: second.signal });
  await expect.poll(() => told.clock.standing).toBe(1);
  second.abort();
  expect((await answer).result).toMatchObject({ kind: "failed", proof: "not_sent" });
});

test("before the tool is called, whatever goes wrong is proof that nothing was sent", async () => {
  let calls = 0;
  const execute: Execute = async () => {
    calls++;
    return ok(null);
  };
  const at = await house([tool(execute)]);
  const call = callOf(await at.ready("act", {}));
  const aborted = AbortSignal.abort();
  const cases = [
    [await at.execute(call, { signal: aborted }), "cancelled"],
    [await at.execute({ ...call, toolDigest: "other" }), "changed_since_shown"],
    [await at.execute({ ...call, args: { n: 1 } }), "changed_since_shown"],
    [await at.execute({ ...call, expect: { version: 1 } }), "changed_since_shown"],
    [await at.execute({ ...call, tool: "constructor" }), "unknown_tool"],
    [await at.execute(call, { run: runOf({ principal: principal({ scopes: [] }) }) }), "scope_missing"],
  ] as const;
  for (const [{ result }, code] of cases) {
    expect(result).toMatchObject({ kind: "failed", proof: "not_sent", payload: { error: { code } } });
  }
  expect(calls).toBe(0);
});

test("the tool is asked again whether this user may, right before acting", async () => {
  let allowed = true;
  const authorize = () =>
    allowed ? ({ ok: true } as const) : ({ ok: false, code: "not_yours", message: "Not yours." } as const);
  const at = await house([tool(async () => ok(null), { authorize })]);
  const call = callOf(await at.ready("act", {}));
  allowed = false;
  expect((await at.execute(call)).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "not_yours" } },
  });
});

test("authorising that throws or hangs has sent nothing", async () => {
  let hang = false;
  let weather = false;
  const authorize: Definition["authorize"] = () => {
    if (weather) throw new Error("db down");
    return hang ? new Promise(() => {}) : { ok: true };
  };
  const at = await house([tool(async () => ok(null), { authorize })]);
  const call = callOf(await at.ready("act", {}));
  weather = true;
  expect((await at.execute(call)).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "tool_failed", retryable: true } },
  });
  weather = false;
  hang = true;
  const pending = at.execute(call);
  await expect.poll(() => at.clock.standing).toBe(1);
  at.clock.turn(call.timeoutMs);
  expect((await pending).result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "timeout" } },
  });
});

test("a tool that acts as the user gets the user's own header, or is refused", async () => {
  const seen: (string | null)[] = [];
  const execute: Execute = async (_, { authHeader }) => {
    seen.push(authHeader);
    return refused("no", `refused Bearer user-token-1 for user-token-1`);
  };
  const without = await run(execute, { credential: "user" });
  expect(without.result).toMatchObject({
    kind: "failed",
    proof: "not_sent",
    payload: { error: { code: "credential_expired" } },
  });
  const given = await run(execute, { credential: "user" }, { authHeader: "Bearer user-token-1" });
  expect(seen).toEqual(["Bearer user-token-1"]);
  expect(JSON.stringify(given.result)).not.toContain("user-token-1");
  const vault = await run(execute, { credential: "tenant_secret" }, { authHeader: "Bearer user-token-1" });
  expect(vault.result).toMatchObject({ kind: "failed", payload: { error: { code: "credential_expired" } } });
});
