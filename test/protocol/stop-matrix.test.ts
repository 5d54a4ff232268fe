/** Frozen on purpose, like the problems. */
import { expect, test } from "vitest";
import { Stop, StopCode, stopOf, STOPS } from "../../src/protocol/stops.ts";

const MATRIX = `
final_answer completed
model_error failed retryable
model_rate_limited failed retryable
model_overloaded failed retryable
model_timeout failed retryable
model_interrupted failed retryable
model_protocol_error failed retryable
model_unauthorized failed
model_quota failed
model_refused failed
context_too_long failed
output_truncated failed
tool_circuit_open failed
step_limit failed
token_limit failed
deadline_exceeded failed retryable
budget_exhausted failed retryable
internal failed retryable
cancelled_by_user cancelled
replaced cancelled
confirmation_expired cancelled
conversation_deleted cancelled
deactivated cancelled
`;

test("Each stop code has one terminal status, and says whether trying again may help", () => {
  const rows = Object.entries(STOPS).map(
    ([code, { status, retryable }]) => `${code} ${status}${retryable ? " retryable" : ""}`,
  );
  expect(rows.join("\n")).toBe(MATRIX.trim());
});

test("A stop takes `retryable` from the catalogue and is strict about what else it has", () => {
  for (const code of StopCode.options) expect(Stop.parse(stopOf(code, "Why.")).retryable).toBe(STOPS[code].retryable);
  const stop = stopOf("model_rate_limited", "Why.", { retryAfterMs: 1_000, provider: { status: 429, code: "2064" } });
  expect(Stop.parse(stop)).toEqual(stop);
  expect(Stop.safeParse({ ...stop, message: "raw" }).success).toBe(false);
});
