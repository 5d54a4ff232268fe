import { expect, test } from "vitest";
import { FAULTS } from "../../src/rehearsal/faults.ts";
import { Rehearsal } from "./rehearse.ts";

const SEEN = new Set<string>();
async function failing(fault: string, said = "hello", asking = {}) {
  SEEN.add(fault);
  const rehearsal = new Rehearsal();
  rehearsal.story.start(`${said} [[fault:${fault}]]`, { scopes: ["plans:write"] });
  return rehearsal.ask(asking);
}

test.each([
  ["429", { kind: "failed", stop: { code: "model_rate_limited", retryAfterMs: 3_000 } }],
  ["500", { kind: "failed", stop: { code: "model_error" } }],
  ["cut", { kind: "failed", stop: { code: "model_protocol_error" } }],
  ["error", { kind: "failed", stop: { code: "model_error" } }],
  ["empty", { kind: "answered", verdict: "empty" }],
  ["length", { kind: "answered", verdict: "truncated_text" }],
  ["filter", { kind: "answered", verdict: "refused" }],
  ["no_usage", { kind: "answered", verdict: "final", usage: { estimated: true } }],
])("[[fault:%s]] fails as a provider would", async (fault, expected) => {
  const { result } = await failing(fault);
  expect(result).toMatchObject(expected);
});

test("an answer that is cut or fails in the middle has shown something by then", async () => {
  expect((await failing("cut")).text).toMatch(/^Hello/);
  expect((await failing("error")).text).toMatch(/^Hello/);
});

test("silence ends at the first-byte limit", async () => {
  const { result } = await failing("silent", "hello", { limits: { maxFirstByteMs: 50 } });
  expect(result).toMatchObject({ kind: "failed", stop: { code: "model_timeout" }, text: { text: "" } });
});

test("cut arguments reach the preparation as they are: no JSON", async () => {
  const seen: string[] = [];
  const prepareCalls = async (_: unknown, __: unknown, calls: readonly { arguments: string }[]) => {
    seen.push(...calls.map((one) => one.arguments));
    return [];
  };
  const { result } = await failing("truncated_args", "create a plan called A long title", { deps: { prepareCalls } });
  expect(result).toMatchObject({ verdict: "plan" });
  expect(seen).toEqual([expect.stringMatching(/^\{"title":"A/)]);
  expect(() => JSON.parse(seen[0] ?? "")).toThrow();
});

test("a fault hits the answer that it names, and the words are understood without it", async () => {
  const rehearsal = new Rehearsal();
  await rehearsal.say("list my plans [[fault:cut@1]]");
  rehearsal.works({ plans: [{ id: "p", title: "A" }] });
  await rehearsal.next();
  expect(rehearsal.story.state.latest?.stop?.code).toBe("model_protocol_error");
});

test("where faults are off, the directive is only words", async () => {
  const rehearsal = new Rehearsal({});
  expect(await rehearsal.say("weather [[fault:429]]")).toContain("[[fault:429]]");
});

test("every fault is tried here", () => {
  expect([...FAULTS].filter((fault) => !SEEN.has(fault))).toEqual([]);
});
