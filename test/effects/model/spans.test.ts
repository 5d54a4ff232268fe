import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attributes, Spans } from "../../../src/effects/spans.ts";
import { startFakeProvider, type FakeProvider } from "../../support/fake-provider.ts";
import { ask, askFor, clientOf } from "./ask.ts";

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

function recorder() {
  const recorded: { name: string; attributes: Attributes; error?: string }[] = [];
  const spans: Spans = {
    within: (name, attributes, run) => {
      const entry: { name: string; attributes: Attributes; error?: string } = { name, attributes };
      recorded.push(entry);
      return run({
        set: (more) => void (entry.attributes = { ...entry.attributes, ...more }),
        fail: (code) => void (entry.error = code),
      });
    },
  };
  return { recorded, spans };
}

test("a model request is a span by GenAI names, with figures and without anybody's words", async () => {
  const { recorded, spans } = recorder();
  const usage = { prompt_tokens: 12, completion_tokens: 3 };
  const { scope, result } = await askFor(
    provider,
    { text: "secret words", usage },
    { text: "secret question", deps: { spans } },
  );
  expect(recorded).toMatchObject([
    {
      name: `chat ${scope}`,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": scope,
        "gen_ai.agent.name": "lab",
        "gen_ai.conversation.id": expect.any(String),
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.response.finish_reasons": "stop",
        "holdpoint.usage.estimated": false,
      },
    },
  ]);
  expect(recorded[0]?.error).toBeUndefined();
  expect(JSON.stringify(recorded)).not.toContain("secret");
  expect(result).toMatchObject({ timing: { firstByteMs: expect.any(Number), requestBytes: expect.any(Number) } });
});

test("one that fails says which of our codes, and the provider's status and code", async () => {
  const { recorded, spans } = recorder();
  const body = { base_resp: { status_code: 1008, status_msg: "no balance" } };
  await askFor(provider, { status: 429, body }, { deps: { spans } });
  expect(recorded).toMatchObject([
    {
      error: "model_quota",
      attributes: { "http.response.status_code": 429, "holdpoint.provider.code": "1008" },
    },
  ]);
});

test("one that a budget holds back is no request, and no span", async () => {
  const { recorded, spans } = recorder();
  const budget = { reserve: async () => ({ ok: false, retryAt: 5 }) as const, lost: () => undefined };
  const { result } = await ask(clientOf(provider.baseUrl, "held"), { deps: { spans, budget } });
  expect(result).toEqual({ kind: "no_budget", reason: "budget", retryAt: 5 });
  expect(recorded).toEqual([]);
  expect(provider.requests("held")).toEqual([]);
});
