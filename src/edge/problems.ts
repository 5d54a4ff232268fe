/**
 * Refusals and accidents as `application/problem+json`. The cause of an accident is logged and never sent; what is sent
 * says what the client can do about it.
 */
import { PROBLEM_TITLES } from "../protocol/problem-titles.ts";
import { PROBLEMS, problemOf, reject, type Rejection } from "../protocol/problems.ts";
import type { Lang } from "../protocol/texts.ts";
import { rateHeaders } from "./rate-headers.ts";
import type { Trace } from "./trace.ts";

/** One sentence for "not there" and for "not yours", so that the two cannot be told apart. */
export const NOT_FOUND = reject("not_found", "There is no such thing, or it is not yours.");
export const NO_CREDENTIAL = reject("unauthenticated", "Send a bearer token in the Authorization header.");
export const INTERNAL = reject("internal", "Something failed here. The request id finds it in the log.");
export const OVERLOADED = reject("overloaded", "This cannot be answered now. Try again.", { retryAfterMs: 1_000 });

/** The longest `Retry-After` in seconds that a client is ever told. */
const LONGEST_WAIT_S = 86_400;
const DEFAULT_WAIT_MS = 1_000;

/** @param lang of the title; codes and details are the same in every language */
export function problemResponse(
  rejection: Rejection,
  trace: Trace,
  lang: Lang,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { status } = PROBLEMS[rejection.code];
  const waits = status === 429 || status === 503;
  const told =
    waits && rejection.retryAfterMs === undefined ? { ...rejection, retryAfterMs: DEFAULT_WAIT_MS } : rejection;
  const seconds = Math.min(LONGEST_WAIT_S, Math.ceil((told.retryAfterMs ?? 0) / 1_000));
  return new Response(JSON.stringify(problemOf(told, trace.requestId, PROBLEM_TITLES[lang][rejection.code])), {
    status,
    headers: {
      ...headers,
      "content-type": "application/problem+json",
      "content-language": lang,
      ...(waits ? { "retry-after": String(seconds) } : {}),
      ...(rejection.rate ? rateHeaders(rejection.rate) : {}),
      ...(status === 401 ? { "www-authenticate": challengeOf(rejection) } : {}),
    },
  });
}

/** RFC 6750: a request without a credential is told the scheme only. */
function challengeOf(rejection: Rejection): string {
  const realm = 'Bearer realm="holdpoint"';
  return rejection === NO_CREDENTIAL ? realm : `${realm}, error="invalid_token"`;
}
