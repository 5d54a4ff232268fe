/** What stands in the edge's place in a deployment that may not serve: it serves nothing, and the log says why. */
import { reject } from "../protocol/problems.ts";
import type { Edge } from "./app.ts";
import { withStandardHeaders } from "./headers.ts";
import { langFor } from "./language.ts";
import type { EdgeLog } from "./ports.ts";
import { problemResponse } from "./problems.ts";
import { SettingsRefused } from "./settings.ts";
import { openTrace } from "./trace.ts";

export function refusingEdge(cause: unknown, log: EdgeLog, now: () => number): Edge {
  const reasons = cause instanceof SettingsRefused ? cause.reasons : ["The deployment cannot be built; see the log."];
  return {
    fetch: async (request) => {
      const trace = openTrace(request, now());
      log.error("settings_refused", cause, { requestId: trace.requestId, reasons });
      const { pathname, protocol } = new URL(request.url);
      // Reasons name variables, never values. Those who look after the service look here; others need not know.
      const why = pathname === "/healthz" ? { extensions: { reasons } } : {};
      const rejection = reject("internal", "The service refuses to start as it is set up; its log says why.", why);
      return withStandardHeaders(
        problemResponse(rejection, trace, langFor(request, undefined)),
        trace,
        {},
        protocol === "https:",
      );
    },
  };
}
