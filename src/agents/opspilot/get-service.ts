/** One service: how it does, on whom it depends, how it is set, what is known to be wrong with it. */
import * as z from "zod";
import { isoOf } from "../../protocol/time.ts";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { settingOf } from "./fleet.ts";
import { Incident, incidentView } from "./incident.ts";
import { ServiceView } from "./observe.ts";
import { nameOf, OPS_TEXTS } from "./ops-texts.ts";
import { look, noSuchService, ServiceId, type OpsDeps } from "./ops-tools.ts";

const INCIDENTS = 5;

const SettingView = z.object({
  name: z.string(),
  value: z.int(),
  unit: z.string(),
  recommended: z.int(),
  min: z.int(),
  max: z.int(),
  version: z.int(),
  changedAt: z.string(),
});

export const getService = defineTool({
  name: "get_service",
  title: { en: "Look at a service", zh: "查看服务" },
  description: "One service: health, memory, what it depends on, its settings with their bounds, its latest incidents.",
  effect: "read",
  input: z.object({ service_id: ServiceId }),
  output: ServiceView.extend({
    dependsOn: z.array(z.string()),
    settings: z.array(SettingView),
    incidents: z.array(Incident),
  }),
  timeoutMs: 10_000,
  execute: async ({ service_id }, call: Execution<OpsDeps>) => {
    const seen = await look(service_id, call);
    if (!seen) return noSuchService();
    const { spec, facts, view } = seen;
    const settings = facts.settings.flatMap(({ name, value, version, changedAt }) => {
      const known = settingOf(spec, name);
      if (!known) return [];
      const { unit, recommended, min, max } = known;
      return [{ name, value, unit, recommended, min, max, version, changedAt: isoOf(changedAt) }];
    });
    const incidents = await call.deps.fleet.incidentsOf(call.ctx.tenantId, service_id, INCIDENTS);
    return ok({ ...view, dependsOn: [...spec.dependsOn], settings, incidents: incidents.map(incidentView) });
  },
  display: ({ id, health, memoryMb, memoryLimitMb, p95Ms }, lang) => {
    const texts = OPS_TEXTS[lang];
    return texts.facts(nameOf(id, lang), texts.health[health], `${memoryMb}/${memoryLimitMb}`, p95Ms);
  },
});
