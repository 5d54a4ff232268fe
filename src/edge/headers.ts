/** The headers that every response carries, whatever made it. */
import type { Trace } from "./trace.ts";

const ALWAYS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-site",
  "x-frame-options": "DENY",
  // What is answered here belongs to one person: nobody in between may keep it.
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};
const HTTPS_ONLY = "max-age=31536000";

export function withStandardHeaders(
  response: Response,
  trace: Trace,
  cors: Readonly<Record<string, string>>,
  https: boolean,
): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ALWAYS)) if (!headers.has(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(cors)) headers.set(name, value);
  headers.set("x-request-id", trace.requestId);
  if (https) headers.set("strict-transport-security", HTTPS_ONLY);
  const { status, webSocket } = response;
  if (status === 101) return new Response(null, { status, webSocket, headers });
  return new Response(response.body, { status, headers });
}
