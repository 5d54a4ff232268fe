/** Cases S09, S10, S12, S14 to S16, S24: answers that break off, refuse, or are none. Each ends in an honest stop. */
import { describe, expect, test } from "vitest";
import { agree } from "./harness/agreement.ts";
import { executed, resultsOf, toldCalls } from "./harness/calls.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const textsOf = async (talk: Talk) => {
  const { data } = await talk.person.client.messages(talk.id);
  return data
    .filter(({ role }) => role === "assistant")
    .map(({ status, parts }) => ({ status, text: parts.map((part) => ("text" in part ? part.text : "")).join("") }));
};

describe("a model's answer is asked for once, and its failure is named", () => {
  test.concurrent.for([
    ["the stream ends inside a call", "S09", "model_protocol_error", true, undefined],
    ["two events are glued", "S24", "model_protocol_error", true, "head "],
    ["an error object comes instead of an answer", "S14", "model_overloaded", true, undefined],
    ["an error comes after text", "S15", "model_error", true, "The answer is about to"],
    ["the vendor is overloaded, under HTTP 200", "S16a", "model_overloaded", true, undefined],
    ["the vendor's account is empty, under HTTP 200", "S16b", "model_quota", false, undefined],
  ] as const)("%s", async ([, fixture, code, retryable, shown]) => {
    const talk = await Talk.open({ otherwise: { fixture } });
    const { run, end } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code, retryable } });
    expect(await talk.requests()).toHaveLength(1);
    expect(talk.events.filter(({ type }) => type.startsWith("tool_call.") || type.startsWith("confirmation."))).toEqual(
      [],
    );
    expect(await textsOf(talk)).toEqual(shown === undefined ? [] : [{ status: "incomplete", text: shown }]);
    // The vendor's own words are for nobody: they may hold anything.
    for (const words of ["capacity reached", "upstream reset", "cluster load", "insufficient balance"]) {
      expect(talk.watcher.heard.join("\n")).not.toContain(words);
    }
    expect(end.data.stop.detail).toMatch(/^[A-Z].*\.$/);
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });

  test.concurrent("a person tries again, and only the second attempt is an answer", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S15" }, COMMON_TEXT] });
    const { run } = await talk.play();
    const retry = await talk.person.client.retry(run.id);
    expect(retry.retryOf).toBe(run.id);
    await talk.ended(retry);
    expect(await textsOf(talk)).toEqual([
      { status: "incomplete", text: "The answer is about to" },
      { status: "complete", text: "Hello world" },
    ]);
    const late = await talk.newWatcher().connect();
    await late.until("the head", () => late.view.cursor === talk.watcher.view.cursor);
    expect(late.view.events).toEqual(talk.events);
    await agree(talk);
  });

  test.concurrent("a proposal that was cut and asked for again is asked about once, whole", async () => {
    const whole = { fixture: "common_propose_transfer" };
    const talk = await Talk.open({ answers: [{ ...whole, destroyAfterWrites: 4 }, whole] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_protocol_error" } });
    const { run: retry, calls } = await talk.asked(await talk.person.client.retry(run.id));
    expect(calls).toMatchObject([{ args: { recipient_id: "r-1", amount_cents: 500 } }]);
    await talk.decide(retry, calls[0], "approve");
    await talk.ended(retry);
    expect(talk.of("confirmation.requested")).toHaveLength(1);
    expect(await talk.bookings()).toMatchObject([{ body: { recipient_id: "r-1", amount_cents: 500 } }]);
    await agree(talk);
  });
});

describe("an answer that was cut at its length limit does not act", () => {
  test.concurrent("no call of it is made, not even the whole one; cut again, the run fails", async () => {
    const talk = await Talk.open({ otherwise: { fixture: "S10" } });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "output_truncated" }, needsConfirmation: false });
    expect(await talk.requests()).toHaveLength(2);
    expect(resultsOf(talk, run).map(({ error }) => error?.code)).toEqual(Array(4).fill("output_truncated"));
    expect(executed(talk, run)).toEqual([]);
    expect(talk.of("confirmation.requested")).toEqual([]);
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });

  test.concurrent("the model is told, and may say it shorter", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S10" }, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    const told = toldCalls((await talk.requests())[1]);
    expect(told).toHaveLength(2);
    for (const { result } of told)
      expect(result).toMatchObject({ success: false, error: { code: "output_truncated" } });
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });

  test.concurrent("text that was cut is kept and marked", async () => {
    const talk = await Talk.open({ answers: [{ text: "Once upon a", finishReason: "length" }] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "output_truncated" } });
    expect(await textsOf(talk)).toEqual([{ status: "incomplete", text: "Once upon a" }]);
    await agree(talk);
  });
});

describe("an empty answer is asked for once more", () => {
  test.concurrent("empty again, the run fails, and no empty message is left behind", async () => {
    const talk = await Talk.open({ otherwise: { fixture: "S12" } });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_protocol_error" } });
    expect(await talk.requests()).toHaveLength(2);
    expect(talk.of("step.superseded", run)).toMatchObject([{ data: { reason: "empty_answer", attempt: 1 } }]);
    expect(await textsOf(talk)).toEqual([]);
    await agree(talk);
  });

  test.concurrent("with an answer at last, it is the answer", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S12" }, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(await textsOf(talk)).toEqual([{ status: "complete", text: "Hello world" }]);
    await agree(talk);
  });
});

describe("silence ends a run, slowness does not", () => {
  test.concurrent("a stream that goes silent is left, and what it said is kept", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S27" }], limits: { maxIdleMs: 300 } });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_timeout", retryable: true } });
    expect(await textsOf(talk)).toEqual([{ status: "incomplete", text: "Thinking about" }]);
    await agree(talk);
  });

  test.concurrent.for([
    ["no head", { hang: true }],
    ["a head and no body", { hang: "headers" }],
  ] as const)("%s within its time is a time-out", async ([, answer]) => {
    const limits = { maxFirstByteMs: 1_500, maxIdleMs: 300 };
    const talk = await Talk.open({ answers: [answer], limits });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "model_timeout", retryable: true } });
    expect(await textsOf(talk)).toEqual([]);
    await agree(talk);
  });

  test.concurrent("an answer that takes longer than the idle limit in all, word by word, is heard out", async () => {
    const words = Array.from({ length: 40 }, (_, n) => `w${n}`).join(" ");
    const talk = await Talk.open({ answers: [{ text: words, delayMs: 200 }], limits: { maxIdleMs: 500 } });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(await textsOf(talk)).toEqual([{ status: "complete", text: words }]);
    await agree(talk);
  });
});
