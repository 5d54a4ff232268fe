/**
 * Which browsers may call. An `Origin` that is present must be on the list, for sockets as for everything else; one
 * that is absent is no browser page, and signs in as everybody does. Nothing here is ambient: no cookies, no credentials.
 */
import { reject, type Rejection } from "../protocol/problems.ts";
import type { Settings } from "./settings.ts";

const EXPOSED =
  "x-request-id, location, idempotency-replayed, retry-after, ratelimit, ratelimit-policy, www-authenticate, allow";
const SENT = "authorization, content-type, idempotency-key, last-event-id, traceparent, x-audit-reason";
const METHODS = "GET, POST, PUT, PATCH, DELETE";
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

export type Cors =
  | { readonly kind: "refused"; readonly rejection: Rejection; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "preflight"; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "go_on"; readonly headers: Readonly<Record<string, string>> };

// Said on every response: a cache that keeps one origin's answer must not hand it to another.
const VARY = { vary: "Origin" };

export function checkOrigin(request: Request, url: URL, settings: Settings): Cors {
  const origin = request.headers.get("origin");
  if (origin === null) return { kind: "go_on", headers: VARY };
  if (!isAllowed(origin, url, settings)) {
    return { kind: "refused", rejection: reject("origin_forbidden", "This origin is not allowed."), headers: VARY };
  }
  const headers = { ...VARY, "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED };
  if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) {
    return { kind: "go_on", headers };
  }
  return {
    kind: "preflight",
    headers: {
      ...headers,
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": SENT,
      "access-control-max-age": "600",
    },
  };
}

function isAllowed(origin: string, url: URL, { allowedOrigins, environment }: Settings): boolean {
  if (allowedOrigins.includes(origin)) return true;
  // On a developer's machine the port is not known beforehand. Only by loopback names: a name that somebody else
  // points at this machine must not make their page ours.
  return environment === "development" && LOOPBACK.has(url.hostname) && origin === url.origin;
}
