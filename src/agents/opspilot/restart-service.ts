/**
 * Restarting a service: interrupts everybody who uses it, so it is sent once, and only to the boot that was shown. It
 * answers when the service is up again, not when it was told to start.
 */
import * as z from "zod";
import { langOf } from "../../protocol/texts.ts";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { actOf } from "./fleet-store.ts";
import { LONGEST_RESTART_MS } from "./lives.ts";
import { ServiceView } from "./observe.ts";
import { nameOf, OPS_TEXTS } from "./ops-texts.ts";
import {
  changedSinceShown,
  hasService,
  ServiceId,
  serviceNow,
  textsOf,
  unexpected,
  type OpsCall,
  type OpsDeps,
} from "./ops-tools.ts";

const POLL_MS = 500;
const Expected = z.object({ boot: z.int() });

export const restartService = defineTool({
  name: "restart_service",
  title: { en: "Restart a service", zh: "重启服务" },
  description:
    "Restarts one service and waits until it is up again. Its users are interrupted meanwhile. A person confirms it.",
  effect: "once",
  scope: "services:restart",
  input: z.object({
    service_id: ServiceId,
    reason: z.string().max(300).optional().describe("Why, in a few words, for the person who confirms it."),
  }),
  output: ServiceView,
  reversible: false,
  timeoutMs: 30_000,
  authorize: hasService,
  preview: async ({ service_id, reason }, call: OpsCall) => {
    const texts = textsOf(call);
    const { view } = await serviceNow(service_id, call);
    return {
      rows: [
        { label: texts.service, value: nameOf(service_id, langOf(call.ctx.locale)) },
        { label: texts.state, before: texts.health[view.health], after: texts.health.restarting },
        { label: texts.running, value: view.startedAt },
        { label: texts.interruption, value: texts.seconds(LONGEST_RESTART_MS / 1_000) },
        ...(reason ? [{ label: texts.reason, value: reason }] : []),
      ],
      expect: { boot: view.boot },
    };
  },
  execute: async ({ service_id: serviceId }, call: Execution<OpsDeps>) => {
    const expected = Expected.safeParse(call.expect);
    if (!expected.success) return unexpected();
    const { ctx, deps, signal } = call;
    const act = await actOf(call.idempotencyKey);
    const begun = await deps.fleet.restart(ctx, { serviceId, boot: expected.data.boot, act });
    if (!begun) return changedSinceShown("The service has been restarted");
    for (;;) {
      const { view } = await serviceNow(serviceId, call);
      if (view.health !== "restarting") return ok(view);
      await deps.wait(POLL_MS, signal);
    }
  },
  display: ({ id, health }, lang) => OPS_TEXTS[lang].restarted(nameOf(id, lang), OPS_TEXTS[lang].health[health]),
});
