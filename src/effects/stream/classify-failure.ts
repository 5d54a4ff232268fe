/**
 * Names a model failure once, at the rim: from an HTTP status and error body, or from a failure inside the body, to one
 * of our stop codes. Whether it is worth another try is the catalogue's business, and nothing is tried again here.
 *
 * It must not pass the vendor's sentences on: they may quote the prompt, keys or addresses. A code survives where it
 * looks like one.
 */
import { stopOf, type Stop } from "../../protocol/stops.ts";
import type { DecodedFailure } from "./decoded-answer.ts";
import { inBandFailure } from "./in-band-failure.ts";
import { isJsonObject, type JsonObject } from "./json-shape.ts";
import { parseRetryAfter } from "./retry-after.ts";
import {
  CONTEXT_TOO_LONG_WORDING,
  ERROR_WORDS,
  MINIMAX_CODES,
  ZHIPU_CODES,
  type ModelStopCode,
} from "./vendor-codes.ts";

export type ModelStop = Stop & { readonly code: ModelStopCode };

const DETAILS: Readonly<Record<ModelStopCode, string>> = {
  model_error: "The model provider reported an error.",
  model_rate_limited: "The model provider limits the rate of requests.",
  model_overloaded: "The model provider is overloaded or unavailable.",
  model_timeout: "The model provider did not answer in time.",
  model_protocol_error: "The model provider's answer was incomplete or malformed.",
  model_unauthorized: "The model provider refused the credential.",
  model_quota: "The account at the model provider has no credit or quota left.",
  model_refused: "The model or its provider's content filter refused.",
  context_too_long: "The request is longer than the model takes.",
};

/** Statuses that say more than their class. */
const STATUSES: ReadonlyMap<number, ModelStopCode> = new Map([
  [401, "model_unauthorized"],
  [402, "model_quota"],
  [403, "model_unauthorized"],
  [408, "model_timeout"],
  [413, "context_too_long"],
  [429, "model_rate_limited"],
  [503, "model_overloaded"],
  [504, "model_timeout"],
  [522, "model_timeout"], // 52x: Cloudflare in front of the provider
  [524, "model_timeout"],
  [529, "model_overloaded"], // Anthropic, MiniMax
]);

/** Statuses with which a server may report a prompt that is too long, and only its wording tells. */
const MAYBE_TOO_LONG: ReadonlySet<number | undefined> = new Set([undefined, 400, 403, 422]);

export type HttpFailure = {
  readonly status: number;
  /** As far as it was read; may be empty, HTML or cut. */
  readonly body: string;
  readonly retryAfter?: string | null;
  /** Epoch ms, for a `Retry-After` that is a date. */
  readonly now: number;
};

/** An answer with a status other than 2xx. */
export function classifyHttpFailure({ status, body, retryAfter, now }: HttpFailure): ModelStop {
  const failure = readErrorBody(body);
  const named = failure === null ? undefined : codeOfFailure(failure, status);
  const code = named ?? STATUSES.get(status) ?? "model_error";
  return describe(code, failure, status, parseRetryAfter(retryAfter, now) ?? retryDelayIn(body, now));
}

/** A failure inside a body that came with status 200. */
export function classifyFailure(failure: DecodedFailure): ModelStop {
  if (failure.kind === "protocol_error") {
    return modelStop("model_protocol_error", `The model provider's answer was malformed: ${failure.detail}.`);
  }
  return describe(codeOfFailure(failure, undefined) ?? "model_error", failure, undefined, undefined);
}

/** Which of the three clocks of a model call ran out. */
export function timedOut(clock: "first_byte" | "idle" | "total"): ModelStop {
  const what = { first_byte: "began no answer", idle: "went silent", total: "did not finish" }[clock];
  return modelStop("model_timeout", `The model provider ${what} within the limit.`);
}

/** A stop with the catalogue's sentence, or another one of ours. */
export function modelStop(code: ModelStopCode, detail = DETAILS[code]): ModelStop {
  return { ...stopOf(code, detail), code };
}

function describe(
  code: ModelStopCode,
  failure: DecodedFailure | null,
  status: number | undefined,
  wait: number | undefined,
): ModelStop {
  const stop = modelStop(code);
  const named = failure === null ? undefined : vendorCode(failure);
  const provider = { ...(status === undefined ? {} : { status }), ...(named === undefined ? {} : { code: named }) };
  return {
    ...stop,
    ...(stop.retryable && wait !== undefined ? { retryAfterMs: wait } : {}),
    ...(Object.keys(provider).length === 0 ? {} : { provider }),
  };
}

function codeOfFailure(failure: DecodedFailure, status: number | undefined): ModelStopCode | undefined {
  switch (failure.kind) {
    case "protocol_error":
      return "model_protocol_error";
    case "vendor":
      return MINIMAX_CODES.get(failure.code) ?? codeOfWording(failure.message, status);
    case "error_object":
      return (
        ERROR_WORDS.get(String(failure.code).toLowerCase()) ??
        ERROR_WORDS.get(String(failure.type).toLowerCase()) ??
        ZHIPU_CODES.get(Number(failure.code)) ??
        codeOfWording(failure.message, status) ??
        // OpenRouter, vLLM and llama.cpp give an HTTP status as code; it says what the 200 of the stream does not.
        (status === undefined ? STATUSES.get(Number(failure.code)) : undefined)
      );
  }
}

function codeOfWording(message: string, status: number | undefined): ModelStopCode | undefined {
  if (!MAYBE_TOO_LONG.has(status)) return undefined;
  return CONTEXT_TOO_LONG_WORDING.some((wording) => wording.test(message)) ? "context_too_long" : undefined;
}

function vendorCode(failure: DecodedFailure): string | undefined {
  if (failure.kind === "protocol_error") return undefined;
  const code = String((failure.kind === "vendor" ? failure.code : (failure.code ?? failure.type)) ?? "");
  return /^[\w.:-]{1,64}$/.test(code) ? code : undefined;
}

function readErrorBody(body: string): DecodedFailure | null {
  const first = firstObject(body);
  return first === null ? null : inBandFailure(first, true);
}

/** Google says when to come back in the body (`google.rpc.RetryInfo`), and sends no header. */
function retryDelayIn(body: string, now: number): number | undefined {
  const error = firstObject(body)?.error;
  const details: readonly unknown[] = isJsonObject(error) && Array.isArray(error.details) ? error.details : [];
  const delay = details.map((one) => (isJsonObject(one) ? one.retryDelay : undefined)).find((one) => one !== undefined);
  return typeof delay === "string" && delay.endsWith("s") ? parseRetryAfter(delay.slice(0, -1), now) : undefined;
}

/** Google wraps the error object of its compatible endpoint into a list. */
function firstObject(body: string): JsonObject | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isJsonObject(first) ? first : null;
}
