/**
 * What stands in the edge's place in a deployment that may not serve, or cannot be built just now: it serves nothing, and
 * the log says why. The first is the operator's to mend; the second may pass, and is called what it is.
 */
import { reject } from "../protocol/problems.ts";
import type { Edge } from "./app.ts";
import { withStandardHeaders } from "./headers.ts";
import { langFor } from "./language.ts";
import type { EdgeLog } from "./ports.ts";
import { OVERLOADED, problemResponse } from "./problems.ts";
import { SettingsRefused } from "./settings.ts";
import { openTrace } from "./trace.ts";

const RETRY_MS = 1_000;

export function refusingEdge(cause: unknown, log: EdgeLog, now: () => number): Edge {
  const refused = cause instanceof SettingsRefused;
  const event = refused ? "settings_refused" : "deployment_failed";
  const reasons = refused ? cause.reasons : ["The deployment cannot be built now; see the log."];
  return {
    fetch: async (request) => {
      const trace = openTrace(request, now());
      log.error(event, cause, { requestId: trace.requestId, reasons });
      const { pathname, protocol } = new URL(request.url);
      // Reasons name variables, never values. Those who look after the service look here; others need not know.
      const why = pathname === "/healthz" ? { extensions: { reasons } } : {};
      const rejection = refused
        ? reject("internal", "The service refuses to start as it is set up; its log says why.", why)
        : reject(OVERLOADED.code, OVERLOADED.detail, { ...why, retryAfterMs: RETRY_MS });
      return withStandardHeaders(
        problemResponse(rejection, trace, langFor(request, undefined)),
        trace,
        {},
        protocol === "https:",
      );
    },
  };
}
