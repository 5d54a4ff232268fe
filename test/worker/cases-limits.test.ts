/**
 * Cases S28, S29, S31, S32: an upstream that wants to be left alone, a conversation that is too long, tools that fail again
 * and again, and steps without end. Of pictures (S30) there is nothing here: there are no attachments yet.
 */
import { describe, expect, test, vi } from "vitest";
import type { Run } from "../../src/protocol/run.ts";
import { agree } from "./harness/agreement.ts";
import { toldCalls } from "./harness/calls.ts";
import { provider } from "./harness/fakes.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

/** The run after it works, and the provider is strict about what it is told. */
async function goesOn(talk: Talk): Promise<void> {
  const { run } = await talk.play("and now");
  expect(run).toMatchObject({ status: "completed", stop: { code: "final_answer" } });
}
const sizes = async (talk: Talk) => (await talk.requests()).length;
const tripped = (talk: Talk, run: Run) => talk.of("limit.tripped", run).map(({ data }) => data);
const noticesOf = (talk: Talk, run: Run) =>
  talk
    .of("message.completed", run)
    .flatMap(({ data }) => data.message.parts)
    .filter(({ type }) => type === "notice");

describe("S28: a provider that wants to be left alone is left alone", () => {
  const limited = (retryAfter: string) => ({ status: 429, headers: { "retry-after": retryAfter } });

  test.concurrent.for([
    ["a day", "86400", 3_600_000],
    ["a time that has passed", "-5", undefined],
    ["garbage", "abc", undefined],
  ] as const)("%s", async ([, retryAfter, told]) => {
    const talk = await Talk.open({ answers: [limited(retryAfter)] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_rate_limited", retryable: true } });
    expect(run.stop?.retryAfterMs).toBe(told);
    expect(await sizes(talk)).toBe(1);
    await goesOn(talk);
    await agree(talk);
  });

  test.concurrent("a date is told as a wait; the second request is a person's, and not before", async () => {
    const talk = await Talk.open();
    await talk.script(limited(new Date(Date.now() + 5_000).toUTCString()));
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_rate_limited" } });
    const { retryAfterMs = 0 } = run.stop ?? {};
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(5_000);
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    expect(await sizes(talk)).toBe(1);
    const retry = await talk.person.client.retry(run.id);
    await talk.ended(retry);
    expect(await talk.person.client.run(retry.id)).toMatchObject({ status: "completed", retryOf: run.id });
    expect(await sizes(talk)).toBe(2);
    await agree(talk);
  });

  test.concurrent("nobody waits for it, so a cancel has nothing to wait for either", async () => {
    const talk = await Talk.open({ answers: [{ ...limited("60"), waitMs: 60_000 }] });
    const started = await talk.start();
    await vi.waitFor(async () => expect(await sizes(talk)).toBe(1), { timeout: 10_000 });
    const before = Date.now();
    await talk.person.client.cancel(started.id);
    expect((await talk.ended(started)).type).toBe("run.cancelled");
    expect(Date.now() - before).toBeLessThan(5_000);
    await goesOn(talk);
    expect(await sizes(talk)).toBe(2);
    await agree(talk);
  });
});

describe("S29: a request that is too long is not sent again unchanged, and the conversation goes on", () => {
  const answer = { status: 400, body: { error: { code: "context_length_exceeded", message: "too long", type: "x" } } };
  const bodies = async (talk: Talk) => (await talk.requests()).map((request) => JSON.stringify(request));

  test.concurrent("with a shorter turn", async () => {
    const talk = await Talk.open();
    await provider.script({ scope: talk.scope, bodyLimit: { bytes: 20_000, answer } });
    await talk.play("w ".repeat(4_000));
    const { run } = await talk.play("x ".repeat(8_000));
    expect(run).toMatchObject({ status: "failed", stop: { code: "context_too_long", retryable: false } });
    await goesOn(talk);
    const sent = await bodies(talk);
    expect(sent).toHaveLength(3);
    expect(new Set(sent).size).toBe(3);
    expect(sent[2]).toContain("A message is left out here");
    await agree(talk);
  });

  test.concurrent("with the same turn and less before it", async () => {
    const talk = await Talk.open();
    await provider.script({ scope: talk.scope, bodyLimit: { bytes: 20_000, answer } });
    for (const letter of ["a", "b", "c"]) await talk.play(`${letter} `.repeat(2_500));
    const { run } = await talk.play("d ".repeat(1_500));
    expect(run).toMatchObject({ status: "failed", stop: { code: "context_too_long" } });
    const retry = await talk.person.client.retry(run.id);
    await talk.ended(retry);
    expect(await talk.person.client.run(retry.id)).toMatchObject({ status: "completed" });
    const sent = await bodies(talk);
    expect(sent).toHaveLength(5);
    expect(sent[4]).toContain("The beginning of this conversation is left out");
    expect(sent[4]).toContain("d d d");
    await agree(talk);
  });
});

describe("S31: the same failing tool is stopped, and the next turn works", () => {
  const same = { fixture: "S31a" };
  const jittered = { fixture: "S31b" };

  test.concurrent("(a) the same call", async () => {
    const talk = await Talk.open({ otherwise: same });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "tool_circuit_open", retryable: false } });
    expect(tripped(talk, run)).toMatchObject([{ limit: "maxSameFailure", figure: 2, bound: 2, tool: "always_fail" }]);
    expect(noticesOf(talk, run)).toMatchObject([{ code: "tool_circuit_open" }]);
    expect(await sizes(talk)).toBe(2);
    await provider.script({ scope: talk.scope, default: COMMON_TEXT });
    await goesOn(talk);
    await agree(talk);
  });

  test.concurrent("(b) with arguments that jitter", async () => {
    const talk = await Talk.open({ answers: [same, jittered, same, jittered, same, jittered] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "tool_circuit_open" } });
    expect(tripped(talk, run)).toMatchObject([{ limit: "maxSameFailure", tool: "always_fail" }]);
    expect(await sizes(talk)).toBeLessThanOrEqual(3);
    await provider.script({ scope: talk.scope, replace: true, queue: [] });
    await goesOn(talk);
    await agree(talk);
  });

  test.concurrent("(c) with a success of another tool in between", async () => {
    const round = [same, jittered, { fixture: "common_lookup" }];
    const talk = await Talk.open({ answers: [...round, ...round, ...round] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "tool_circuit_open" } });
    expect(await sizes(talk)).toBeLessThanOrEqual(4);
    await provider.script({ scope: talk.scope, replace: true, queue: [] });
    await goesOn(talk);
    await agree(talk);
  });
});

test.concurrent("S32: the bound of steps has its own code, and every call is answered", async () => {
  const talk = await Talk.open({ otherwise: { fixture: "common_lookup" }, limits: { maxSteps: 3 } });
  const { run } = await talk.play();
  expect(run).toMatchObject({ status: "failed", stop: { code: "step_limit" } });
  expect(tripped(talk, run)).toMatchObject([{ limit: "maxSteps", figure: 3, bound: 3 }]);
  expect(await sizes(talk)).toBe(3);
  expect(talk.of("tool_call.finished", run)).toHaveLength(3);
  await provider.script({ scope: talk.scope, default: COMMON_TEXT });
  await goesOn(talk);
  expect(toldCalls((await talk.requests()).at(-1))).toMatchObject([
    { tool: "lookup_order", result: { success: true } },
  ]);
  await agree(talk);
});
