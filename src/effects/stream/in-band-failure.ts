/**
 * Finds the failure that a body announces instead of, or in the middle of, an answer. HTTP 200 proves nothing: vendors
 * put errors into the stream. Only shapes are recognised here; what they mean is for classify-failure.ts.
 */
import type { DecodedFailure } from "./decoded-answer.ts";
import { isJsonObject, label, textOr, type JsonObject } from "./json-shape.ts";

const CODE_CHARS = 100;
const MESSAGE_CHARS = 1_000;

/**
 * @param named the event was called `error`, or the HTTP status was one: then the object is an error whatever it says.
 */
export function inBandFailure(body: JsonObject, named = false): DecodedFailure | null {
  const error = body.error;
  if (isJsonObject(error)) return errorObject(error);
  if (typeof error === "string" && error !== "") return errorObject({ message: error }); // Ollama

  const base = body.base_resp; // MiniMax; 0 is success
  if (isJsonObject(base)) {
    const code = Number(codeOf(base.status_code) ?? 0);
    if (code !== 0) return { kind: "vendor", code, message: label(textOr(base.status_msg), MESSAGE_CHARS) };
  }

  // vLLM sends `object: "error"`, DashScope bare `code` and `message`, both without an `error` member.
  const bare = body.choices === undefined && typeof body.message === "string" && codeOf(body.code) !== null;
  return named || bare || body.object === "error" ? errorObject(body) : null;
}

/** Of an `error` object: also OpenRouter's, which stands inside a choice. */
export function errorObject(error: JsonObject): DecodedFailure {
  // Google has a `status` in words. OpenRouter has no code for input that was flagged, only the list of its reasons.
  const flagged = isJsonObject(error.metadata) && Array.isArray(error.metadata.reasons) ? "content_filter" : null;
  const type = codeOf(error.type) ?? codeOf(error.status) ?? flagged;
  return {
    kind: "error_object",
    code: codeOf(error.code),
    type: type === null ? null : String(type),
    message: label(textOr(error.message), MESSAGE_CHARS),
  };
}

function codeOf(value: unknown): string | number | null {
  if (typeof value === "number") return value;
  return typeof value === "string" && value !== "" ? label(value, CODE_CHARS) : null;
}
