/** Opening an incident. One of low severity only takes a note; the others call people, so a person agrees first. */
import * as z from "zod";
import { langOf } from "../../protocol/texts.ts";
import { defineTool, type Call, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { actOf } from "./fleet-store.ts";
import { Incident, incidentView, Severity } from "./incident.ts";
import { nameOf, OPS_TEXTS } from "./ops-texts.ts";
import { hasService, ServiceId, textsOf, type OpsCall, type OpsDeps } from "./ops-tools.ts";

export const openIncident = defineTool({
  name: "open_incident",
  title: { en: "Open an incident", zh: "创建事件" },
  description:
    "Opens an incident about a service. Unless its severity is low it calls people, and a person confirms it.",
  effect: "probeable",
  scope: "incidents:write",
  input: z.object({
    service_id: ServiceId,
    severity: Severity,
    title: z.string().trim().min(1).max(120).describe("What is wrong, in a few words."),
    details: z.string().max(2_000).optional(),
  }),
  output: Incident,
  confirm: ({ severity }) => severity !== "low",
  reversible: false,
  timeoutMs: 15_000,
  authorize: hasService,
  preview: ({ service_id, severity, title, details }, call: OpsCall) => {
    const texts = textsOf(call);
    return {
      rows: [
        { label: texts.service, value: nameOf(service_id, langOf(call.ctx.locale)) },
        { label: texts.level, value: texts.severity[severity] },
        { label: texts.incident, after: title },
        ...(details ? [{ label: texts.details, after: details }] : []),
      ],
    };
  },
  execute: async ({ service_id, severity, title, details = "" }, { ctx, deps, idempotencyKey }: Execution<OpsDeps>) => {
    const act = await actOf(idempotencyKey);
    return ok(incidentView(await deps.fleet.open(ctx, { serviceId: service_id, severity, title, details, act })));
  },
  probe: async (key, _args, { ctx, deps }: Call<OpsDeps>) => {
    const found = await deps.fleet.incident(ctx.tenantId, await actOf(key));
    return found ? { found: true, outcome: ok(incidentView(found)) } : { found: false };
  },
  display: ({ id, title }, lang) => OPS_TEXTS[lang].opened(id, title),
});
