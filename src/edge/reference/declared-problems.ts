/**
 * Every problem that a route can answer: its own, and those that follow from what it takes. The document declares these
 * and the tests refuse any other. Not among them: 404 of an unknown path and 405, which belong to no operation.
 */
import type { ProblemCode } from "../../protocol/problems.ts";
import type { RouteDescription } from "../route.ts";

const EVERYWHERE: readonly ProblemCode[] = ["not_acceptable", "origin_forbidden", "internal"];
const SIGNED_IN: readonly ProblemCode[] = [
  "unauthenticated",
  "token_expired",
  // A credential in the URL.
  "invalid_request",
  "rate_limited",
  "overloaded",
];
const BODY: readonly ProblemCode[] = [
  "malformed_json",
  "payload_too_large",
  "unsupported_media_type",
  "invalid_request",
];

export function problemsOf(route: RouteDescription): ProblemCode[] {
  const { auth, scope, takesTicket, params, query, body, key, command, auditReason } = route;
  const queried = Object.keys(query.shape);
  const codes = new Set<ProblemCode>([
    ...EVERYWHERE,
    ...(auth === "user" ? SIGNED_IN : []),
    ...(scope === null ? [] : (["scope_missing"] as const)),
    ...(takesTicket ? (["ticket_invalid"] as const) : []),
    ...(Object.keys(params.shape).length > 0 ? (["not_found"] as const) : []),
    ...(queried.length > 0 ? (["invalid_request"] as const) : []),
    ...(queried.some((name) => name === "after" || name === "cursor") ? (["cursor_invalid"] as const) : []),
    ...(key === "required" ? (["idempotency_key_missing"] as const) : []),
    ...(key === "none" ? [] : (["invalid_request"] as const)),
    ...(body === null ? [] : BODY),
    ...(command === null ? [] : (["paused"] as const)),
    ...(auditReason ? (["audit_reason_missing"] as const) : []),
    ...route.problems,
  ]);
  return [...codes];
}
