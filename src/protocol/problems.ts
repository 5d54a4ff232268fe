/**
 * The problem catalogue (RFC 9457): code, HTTP status, whether the same request may succeed later, and the English
 * title. `test/protocol/problem-matrix.test.ts` freezes it as literals.
 */
import * as z from "zod";

export const PROBLEMS = {
  malformed_json: { status: 400, retryable: false, title: "The body is not JSON" },
  idempotency_key_missing: { status: 400, retryable: false, title: "An Idempotency-Key is required" },
  audit_reason_missing: { status: 400, retryable: false, title: "A reason is required" },
  unauthenticated: { status: 401, retryable: false, title: "Sign in first" },
  token_expired: { status: 401, retryable: false, title: "The token has expired" },
  ticket_invalid: { status: 401, retryable: false, title: "The ticket is not valid" },
  step_up_required: { status: 401, retryable: false, title: "Sign in again for this act" },
  forbidden: { status: 403, retryable: false, title: "Not allowed" },
  scope_missing: { status: 403, retryable: false, title: "A scope is missing" },
  origin_forbidden: { status: 403, retryable: false, title: "This origin is not allowed" },
  approval_not_allowed: { status: 403, retryable: false, title: "You may not decide this call" },
  self_approval_forbidden: { status: 403, retryable: false, title: "Somebody else must decide this call" },
  not_found: { status: 404, retryable: false, title: "Not found" },
  method_not_allowed: { status: 405, retryable: false, title: "Method not allowed" },
  not_acceptable: { status: 406, retryable: false, title: "No acceptable representation" },
  run_active: { status: 409, retryable: true, title: "Another run is active" },
  run_started: { status: 409, retryable: false, title: "The run has started" },
  run_finished: { status: 409, retryable: false, title: "The run has finished" },
  not_interrupted: { status: 409, retryable: false, title: "The call waits for nothing" },
  already_decided: { status: 409, retryable: false, title: "Already decided" },
  confirmation_expired: { status: 409, retryable: false, title: "The confirmation has expired" },
  confirmation_stale: { status: 409, retryable: false, title: "The tool or its policy has changed" },
  digest_mismatch: { status: 409, retryable: false, title: "The arguments are not the ones shown" },
  handed_over: { status: 409, retryable: true, title: "A person has taken over" },
  outcome_unknown: { status: 409, retryable: false, title: "A call's outcome is unknown" },
  conversation_full: { status: 409, retryable: false, title: "The conversation is full" },
  idempotency_in_progress: { status: 409, retryable: true, title: "The first request is still in progress" },
  gone: { status: 410, retryable: false, title: "Erased" },
  payload_too_large: { status: 413, retryable: false, title: "Too large" },
  unsupported_media_type: { status: 415, retryable: false, title: "Unsupported media type" },
  invalid_request: { status: 422, retryable: false, title: "Invalid request" },
  cursor_invalid: { status: 422, retryable: false, title: "The cursor is not valid" },
  idempotency_key_reused: { status: 422, retryable: false, title: "The Idempotency-Key belongs to another request" },
  queue_full: { status: 429, retryable: true, title: "The queue is full" },
  rate_limited: { status: 429, retryable: true, title: "Too many requests" },
  too_many_sockets: { status: 429, retryable: true, title: "Too many sockets" },
  tenant_concurrency: { status: 429, retryable: true, title: "Too many runs at once" },
  budget_exhausted: { status: 429, retryable: true, title: "The budget is used up" },
  internal: { status: 500, retryable: true, title: "Internal error" },
  storage_lost: { status: 500, retryable: false, title: "Stored data is missing" },
  paused: { status: 503, retryable: true, title: "Paused" },
  overloaded: { status: 503, retryable: true, title: "Overloaded" },
  history_unavailable: { status: 503, retryable: true, title: "The history cannot be read now" },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
export const ProblemCode = z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]);

export const FieldError = z.strictObject({ pointer: z.string(), detail: z.string() });
export type FieldError = z.infer<typeof FieldError>;

/** How much of a limit is left: for the `RateLimit` headers. */
export interface RateState {
  readonly policy: string;
  /** Absent: the platform keeps it. */
  readonly limit?: number;
  readonly windowS: number;
  readonly remaining: number;
  /** Seconds until all of it is there again. */
  readonly resetS: number;
}

/** What a refusal carries before it meets a request: the edge adds type, title, status and request id. */
export interface Rejection {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly retryAfterMs?: number;
  readonly errors?: readonly FieldError[];
  /** For `already_decided`: who and when. For run conflicts: the run as it is. Goes into the problem as extensions. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Of `rate_limited`: for the headers, and in no body. */
  readonly rate?: RateState;
}

export function reject(code: ProblemCode, detail: string, more: Omit<Rejection, "code" | "detail"> = {}): Rejection {
  return { code, detail, ...more };
}

export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: ProblemCode,
  requestId: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.int().nonnegative().optional(),
  errors: z.array(FieldError).optional(),
});
export type Problem = z.infer<typeof Problem>;

/** The problem of a rejection, as REST bodies and WebSocket frames carry it. */
export function problemOf(rejection: Rejection, requestId: string, title?: string): Problem {
  const entry = PROBLEMS[rejection.code];
  return {
    type: `/problems/${rejection.code}`,
    title: title ?? entry.title,
    status: entry.status,
    detail: rejection.detail,
    code: rejection.code,
    requestId,
    retryable: entry.retryable,
    ...(rejection.retryAfterMs === undefined ? {} : { retryAfterMs: rejection.retryAfterMs }),
    ...(rejection.errors === undefined ? {} : { errors: [...rejection.errors] }),
    ...rejection.extensions,
  };
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejection: Rejection };
