/** Whatever the core can make of a conversation, a strict provider takes the next request. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stopOf } from "../../../src/protocol/stops.ts";
import type { ModelResult, PreparedCall, ToolAnswer } from "../../../src/run/inputs.ts";
import { NO_USAGE } from "../../../src/run/state.ts";
import { answered, payloadOf, read, ready, Story } from "./story.ts";

const error = { layer: "tool", code: "broken", message: "It broke.", retryable: false } as const;
const refusal: PreparedCall = {
  kind: "refused",
  tool: "constructor",
  modelArgs: "{",
  fingerprint: "f",
  payload: payloadOf("x", { success: false, error }),
};

const call = fc.constantFrom<PreparedCall>(
  ready(),
  ready({ gate: null }),
  ready({ effect: "idempotent", gate: null }),
  read(),
  read({ modelArgs: { other: true } }),
  refusal,
);
const TOO_LONG = stopOf("context_too_long", "x");
const modelResult = fc.oneof(
  fc.string().map((text): ModelResult => answered("final", text || "ok")),
  fc
    .tuple(fc.array(call, { minLength: 1, maxLength: 4 }), fc.constantFrom("", "Let me see."))
    .map(([calls, text]): ModelResult => answered("plan", text, calls)),
  fc.constantFrom<ModelResult>(
    answered("empty"),
    answered("refused", "No."),
    answered("truncated_text", "It is"),
    answered("truncated_calls", "", [refusal, refusal]),
    { kind: "failed", stop: stopOf("model_error", "x"), text: { text: "half" }, finishReason: null, usage: NO_USAGE },
    { kind: "failed", stop: stopOf("model_error", "x"), text: { text: "" }, finishReason: null, usage: NO_USAGE },
    { kind: "failed", stop: TOO_LONG, text: { text: "" }, finishReason: null, usage: NO_USAGE },
    { kind: "aborted", text: { text: "half" }, usage: NO_USAGE },
    { kind: "no_budget", reason: "budget" },
  ),
);
const toolResult = fc.constantFrom<(id: string) => ToolAnswer>(
  (id) => ({ kind: "ok", payload: payloadOf(id, { data: { a: 1 } }) }),
  (id) => ({ kind: "failed", proof: "definitive", payload: payloadOf(id, { success: false, error }) }),
  (id) => ({
    kind: "ambiguous",
    error,
    payload: payloadOf(id, { success: false, error }),
    reason: "ambiguous",
    repeatable: true,
  }),
);

type Verb = (story: Story) => void;
const pick = (story: Story, nth: number) => {
  const calls = [...(story.state.active?.calls ?? []), ...(story.state.latest?.calls ?? [])];
  return calls[nth % Math.max(1, calls.length)];
};
const nth = fc.nat(7);
const verb: fc.Arbitrary<Verb> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Verb>((story) => story.start("next")) },
  {
    weight: 6,
    arbitrary: modelResult.map(
      (result): Verb =>
        (story) =>
          void (story.asking && story.model(result)),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(nth, toolResult).map(([at, result]): Verb => {
      return (story) => {
        const effect = story.executing[at % Math.max(1, story.executing.length)];
        if (effect) story.tool(effect, result(effect.id));
      };
    }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(nth, fc.constantFrom("approve", "reject", "edit")).map(([at, decision]): Verb => {
      return (story) => story.decideOn(pick(story, at), decision, decision === "edit" ? { edited: 1 } : undefined);
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(nth, fc.constantFrom("happened", "did_not_happen", "give_up")).map(
      ([at, outcome]): Verb =>
        (story) =>
          story.resolve(pick(story, at), outcome),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Verb>(
      (story) => story.cancel(),
      (story) => story.retry(),
      (story) => story.crash(),
      (story) => story.pass(11_000),
      (story) => story.pass(3_600_000),
      (story) => story.operator("take_over"),
      (story) => story.operator({ say: "I am here." }),
      (story) => story.operator("release_handover"),
    ),
  },
);

test("after any history the transcript is what a strict provider takes, and a cold start gives the same", () => {
  let asked = 0;
  let answeredCalls = 0;
  fc.assert(
    fc.property(fc.array(verb, { minLength: 20, maxLength: 60 }), (verbs) => {
      const story = new Story();
      story.start("first");
      for (const act of verbs) {
        act(story);
        expect(story.json === "" ? [] : story.violations()).toEqual([]);
        if (!story.asking) continue;
        asked += 1;
        const messages = story.messages();
        expect(messages.at(-1)?.role).not.toBe("assistant");
        answeredCalls += messages.filter(({ role }) => role === "tool").length;
      }
      expect(story.cold()).toBe(story.json);
    }),
    { numRuns: 400 },
  );
  expect(asked).toBeGreaterThan(1_000);
  expect(answeredCalls).toBeGreaterThan(500);
});

const refusals = (story: Story) =>
  story.events.filter(({ type, data }) => type === "run.failed" && data.stop.code === TOO_LONG.code).length;

test("what was told once is never rewritten, until a model refuses it as too long", () => {
  fc.assert(
    fc.property(fc.array(verb, { minLength: 20, maxLength: 60 }), (verbs) => {
      const story = new Story();
      story.start("first");
      let before = "";
      for (const act of verbs) {
        const refused = refusals(story);
        act(story);
        // A refusal as too long is the one thing that shortens it.
        expect(refusals(story) !== refused || story.json.startsWith(before)).toBe(true);
        before = story.json;
      }
    }),
    { numRuns: 100 },
  );
});
