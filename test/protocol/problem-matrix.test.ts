/** Frozen on purpose: a client's handling hangs on these. A change here is a change of the protocol. */
import { describe, expect, test } from "vitest";
import { Problem, problemOf, PROBLEMS, reject } from "../../src/protocol/problems.ts";

const MATRIX = `
malformed_json 400
idempotency_key_missing 400
audit_reason_missing 400
unauthenticated 401
token_expired 401
ticket_invalid 401
step_up_required 401
forbidden 403
scope_missing 403
origin_forbidden 403
approval_not_allowed 403
self_approval_forbidden 403
not_found 404
method_not_allowed 405
not_acceptable 406
run_active 409 retryable
run_started 409
run_finished 409
not_interrupted 409
already_decided 409
confirmation_expired 409
confirmation_stale 409
digest_mismatch 409
handed_over 409 retryable
outcome_unknown 409
conversation_full 409
idempotency_in_progress 409 retryable
gone 410
payload_too_large 413
unsupported_media_type 415
invalid_request 422
cursor_invalid 422
idempotency_key_reused 422
queue_full 429 retryable
rate_limited 429 retryable
too_many_sockets 429 retryable
tenant_concurrency 429 retryable
budget_exhausted 429 retryable
internal 500 retryable
storage_lost 500
paused 503 retryable
overloaded 503 retryable
history_unavailable 503 retryable
`;

describe("Problems", () => {
  test("each code has its status, and says whether the same request may succeed later", () => {
    const rows = Object.entries(PROBLEMS).map(
      ([code, { status, retryable }]) => `${code} ${status}${retryable ? " retryable" : ""}`,
    );
    expect(rows.join("\n")).toBe(MATRIX.trim());
  });

  test("a rejection becomes one object, for REST and for WebSocket frames", () => {
    const rejection = reject("queue_full", "At most 20 runs wait.", {
      retryAfterMs: 5_000,
      errors: [{ pointer: "/input", detail: "too much" }],
      extensions: { blockedBy: { runId: "r" } },
    });
    const problem = problemOf(rejection, "req-1");
    expect(problem).toEqual({
      type: "/problems/queue_full",
      title: "The queue is full",
      status: 429,
      detail: "At most 20 runs wait.",
      code: "queue_full",
      requestId: "req-1",
      retryable: true,
      retryAfterMs: 5_000,
      errors: [{ pointer: "/input", detail: "too much" }],
      blockedBy: { runId: "r" },
    });
    expect(Problem.parse(problem)).toEqual(problem);
  });

  test("what a rejection does not carry is absent, not null", () => {
    expect(Object.keys(problemOf(reject("gone", "Erased."), "req-1"))).toEqual([
      "type",
      "title",
      "status",
      "detail",
      "code",
      "requestId",
      "retryable",
    ]);
  });
});
