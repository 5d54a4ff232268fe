/** Why a run ended: each code has one terminal status, and says whether trying again may help. */
import * as z from "zod";

export const STOPS = {
  final_answer: { status: "completed", retryable: false },
  model_error: { status: "failed", retryable: true },
  model_rate_limited: { status: "failed", retryable: true },
  model_overloaded: { status: "failed", retryable: true },
  model_timeout: { status: "failed", retryable: true },
  model_interrupted: { status: "failed", retryable: true },
  model_protocol_error: { status: "failed", retryable: true },
  model_unauthorized: { status: "failed", retryable: false },
  model_quota: { status: "failed", retryable: false },
  model_refused: { status: "failed", retryable: false },
  context_too_long: { status: "failed", retryable: false },
  output_truncated: { status: "failed", retryable: false },
  tool_circuit_open: { status: "failed", retryable: false },
  step_limit: { status: "failed", retryable: false },
  token_limit: { status: "failed", retryable: false },
  deadline_exceeded: { status: "failed", retryable: true },
  budget_exhausted: { status: "failed", retryable: true },
  internal: { status: "failed", retryable: true },
  cancelled_by_user: { status: "cancelled", retryable: false },
  replaced: { status: "cancelled", retryable: false },
  confirmation_expired: { status: "cancelled", retryable: false },
  conversation_deleted: { status: "cancelled", retryable: false },
  deactivated: { status: "cancelled", retryable: false },
} as const;

export type StopCode = keyof typeof STOPS;
export const StopCode = z.enum(Object.keys(STOPS) as [StopCode, ...StopCode[]]);
export type CancelCode = { [K in StopCode]: (typeof STOPS)[K]["status"] extends "cancelled" ? K : never }[StopCode];

export const Stop = z.strictObject({
  code: StopCode,
  /** One clean sentence in English for people who operate the service; never a vendor's raw text. */
  detail: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.int().nonnegative().optional(),
  provider: z.strictObject({ status: z.int().optional(), code: z.string().optional() }).optional(),
});
export type Stop = z.infer<typeof Stop>;

/** A stop with its catalogue's `retryable`. */
export function stopOf(
  code: StopCode,
  detail: string,
  more: Partial<Pick<Stop, "retryAfterMs" | "provider">> = {},
): Stop {
  return { code, detail, retryable: STOPS[code].retryable, ...more };
}
