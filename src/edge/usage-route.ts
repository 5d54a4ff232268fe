/** What the tenant's runs have taken, per agent, and what is left of its budget. Of the history: it may lag. */
import * as z from "zod";
import { reject } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { UsageReport } from "../protocol/usage.ts";
import type { HistoryReader } from "./ports.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, userRoute, type Route } from "./route.ts";

const DAY_MS = 24 * 3_600_000;
const LONGEST_MS = 31 * DAY_MS;
const Time = z.iso.datetime({ offset: true, error: "must be an ISO 8601 time" }).optional();

export const usageRoute = (history: HistoryReader): Route =>
  userRoute({
    method: "GET",
    path: "/v1/usage",
    summary:
      "Rounds, tokens, cost, latencies, trips and errors by agent, of runs that ended in the range; the budget now.",
    scope: SCOPES.usageRead,
    params: NONE,
    query: z.object({ from: Time, to: Time, agent: z.string().min(1).max(64).optional() }),
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: { 200: { description: "The last day, or the range.", schema: UsageReport, example: EXAMPLES.usage } },
    problems: ["history_unavailable"],
    handle: async ({ context, trace, query }, edge) => {
      const to = query.to === undefined ? edge.now() : Date.parse(query.to);
      const from = query.from === undefined ? to - DAY_MS : Date.parse(query.from);
      if (from >= to || to - from > LONGEST_MS) {
        const detail = "The range must be at most 31 days long, and end after it begins.";
        return { ok: false, rejection: reject("invalid_request", detail, { errors: [{ pointer: "/from", detail }] }) };
      }
      const { tenantId } = context;
      const { agent } = query;
      try {
        const [report, budget] = await Promise.all([
          history.usage(tenantId, { from, to, ...(agent === undefined ? {} : { agent }) }),
          edge.budget?.(tenantId),
        ]);
        return ok(200, { ...report, ...(budget ? { budget } : {}) });
      } catch (error) {
        edge.log.error("history_unreadable", error, { requestId: trace.requestId });
        const detail = "Figures cannot be read now.";
        return { ok: false, rejection: reject("history_unavailable", detail, { retryAfterMs: 5_000 }) };
      }
    },
  });
