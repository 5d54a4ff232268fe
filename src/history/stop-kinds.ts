/** Stop codes by what has stopped a run, for figures. */
import type { StopCode } from "../protocol/stops.ts";

/** A limit of ours. */
export const TRIP_CODES: ReadonlySet<StopCode> = new Set([
  "tool_circuit_open",
  "step_limit",
  "token_limit",
  "deadline_exceeded",
  "budget_exhausted",
]);
export const TIMEOUT_CODES: ReadonlySet<StopCode> = new Set(["model_timeout", "deadline_exceeded"]);
/** The model's provider. */
export const MODEL_CODES: ReadonlySet<StopCode> = new Set([
  "model_error",
  "model_rate_limited",
  "model_overloaded",
  "model_timeout",
  "model_interrupted",
  "model_protocol_error",
  "model_unauthorized",
  "model_quota",
  "model_refused",
  "context_too_long",
]);
