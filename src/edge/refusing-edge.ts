/** What stands in the edge's place while the settings are not ones to serve with: nothing is, and the log says why. */
import { reject } from "../protocol/problems.ts";
import type { Edge } from "./app.ts";
import { withStandardHeaders } from "./headers.ts";
import type { EdgeLog } from "./ports.ts";
import { problemResponse } from "./problems.ts";
import type { SettingsRefused } from "./settings.ts";
import { openTrace } from "./trace.ts";

export function refusingEdge(refused: SettingsRefused, log: EdgeLog, now: () => number): Edge {
  const { reasons } = refused;
  return {
    fetch: async (request) => {
      const trace = openTrace(request, now());
      log.error("settings_refused", refused, { requestId: trace.requestId, reasons });
      const { pathname, protocol } = new URL(request.url);
      // Reasons name variables, never values. Those who look after the service look here; others need not know.
      const why = pathname === "/healthz" ? { extensions: { reasons } } : {};
      const rejection = reject("internal", "The service refuses to start with its settings; its log says why.", why);
      return withStandardHeaders(problemResponse(rejection, trace), trace, {}, protocol === "https:");
    },
  };
}
