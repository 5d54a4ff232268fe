/** The judge of the faults notices whatever is not as specified, by whoever saw it. */
import { expect, test } from "vitest";
import type { Fault } from "../../rigs/faults/fault.ts";
import type { Seen } from "../../rigs/faults/house.ts";
import { judge } from "../../rigs/faults/judge.ts";
import { modelFaults } from "../../rigs/faults/model-faults.ts";
import { toolFaults } from "../../rigs/faults/tool-faults.ts";
import { stopOf } from "../../src/protocol/stops.ts";

const fault: Fault = {
  name: "429 with a wait",
  answers: [],
  expected: {
    ends: "model_rate_limited",
    retryAfterMs: [900, 1_100],
    provider: { status: 429, code: "slow" },
    requests: 1,
    calls: ["GATEWAY_UNAUTHORIZED"],
    backendRequests: 1,
    bookings: 0,
    booked: "nothing",
  },
};

const line = { level: "info", requestId: "q", traceId: "t", conversationId: "c", runId: "c.r1" };
const provider = { status: 429, code: "slow" };
const payload = { success: false, error: { code: "GATEWAY_UNAUTHORIZED" } };

/** As it must be. */
function right() {
  return {
    run: {
      id: "c.r1",
      status: "failed",
      stop: stopOf("model_rate_limited", "No.", { retryAfterMs: 1_000, provider }),
      usage: { inputTokens: 0, outputTokens: 0, estimated: false },
    },
    events: [{ type: "tool_call.finished", data: { payload } }, { type: "run.failed" }],
    texts: [],
    notices: [],
    log: [
      { ...line, event: "run_ended", code: "model_rate_limited", provider },
      { ...line, event: "tool_failed", code: "GATEWAY_UNAUTHORIZED" },
    ],
    requests: 1,
    violations: 0,
    backendRequests: 1,
    bookings: 0,
    ledger: { used: 0, reserved: 0 },
    heard: "",
  };
}
type Plain = ReturnType<typeof right>;
const judged = (change: (seen: Plain) => unknown): string[] => {
  const seen = right();
  change(seen);
  return judge(fault, seen as unknown as Seen);
};

test("what is as specified passes", () => {
  expect(judged(() => undefined)).toEqual([]);
});

test.each<[string, (seen: Plain) => unknown]>([
  ["another stop code", (seen) => (seen.run.stop = stopOf("model_error", "No."))],
  ["a wait that is too long", (seen) => (seen.run.stop = { ...seen.run.stop, retryAfterMs: 5_000 })],
  [
    "a vendor's code that support does not see",
    (seen) => (seen.run.stop = { ...seen.run.stop, provider: { status: 429 } }),
  ],
  ["a vendor's sentence", (seen) => (seen.heard = "… cluster load …")],
  ["text that nobody expected", (seen) => seen.texts.push({ text: "hi", status: "complete" } as never)],
  ["a second terminal event", (seen) => seen.events.push({ type: "run.failed" })],
  ["an attempt that nobody asked for", (seen) => seen.events.unshift({ type: "step.superseded" })],
  ["a result that is missing", (seen) => seen.events.shift()],
  ["a second request", (seen) => (seen.requests = 2)],
  ["a request that a strict provider refuses", (seen) => (seen.violations = 1)],
  ["a second call of the backend", (seen) => (seen.backendRequests = 2)],
  ["an act that happened", (seen) => (seen.bookings = 1)],
  ["a payment for nothing", (seen) => (seen.ledger.used = 5)],
  ["a reservation that stands", (seen) => (seen.ledger.reserved = 5)],
  ["no line about the end", (seen) => seen.log.shift()],
  ["a line without what joins lines", (seen) => Object.assign(seen.log[0] ?? {}, { traceId: undefined })],
  ["a line without the vendor's code", (seen) => Object.assign(seen.log[0] ?? {}, { provider: {} })],
  ["no line about the failed call", (seen) => seen.log.pop()],
  ["an error that is none", (seen) => seen.log.push({ ...line, level: "error", event: "effect_failed", code: "x" })],
])("%s is noticed", (_, change) => {
  expect(judged(change).length).toBeGreaterThan(0);
});

test("there are more than forty faults, each with a name of its own", () => {
  const names = [...modelFaults(), ...toolFaults()].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(80);
});
