/** Changing a setting: exactly the version that was shown, from the value that was shown, once however often it is sent. */
import * as z from "zod";
import { defineTool, type Execution, type Refusal } from "../../tools/define-tool.ts";
import { ok } from "../../tools/outcome.ts";
import { actOf } from "./fleet-store.ts";
import { settingOf, specOf } from "./fleet.ts";
import { OPS_TEXTS, withUnit } from "./ops-texts.ts";
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

const Expected = z.object({ version: z.int() });
/** Acts are kept for good. */
const FOREVER_MS = 365 * 86_400_000;

interface Wanted {
  readonly service_id: string;
  readonly key: string;
  readonly value: number;
}

/** Bounds are constants, so that a repeat after the change is allowed as its first attempt was. */
async function allowed(wanted: Wanted, call: OpsCall): Promise<Refusal> {
  const here = await hasService(wanted, call);
  if (!here.ok) return here;
  const spec = specOf(wanted.service_id);
  const setting = spec && settingOf(spec, wanted.key);
  if (!setting) {
    const known = spec?.settings.map(({ name }) => name).join(", ") ?? "";
    return { ok: false, code: "unknown_setting", message: `The service has no such setting; it has ${known}.` };
  }
  const { min, max } = setting;
  if (wanted.value >= min && wanted.value <= max) return { ok: true };
  return { ok: false, code: "value_out_of_range", message: `The setting takes ${min} to ${max}.` };
}

export const setConfig = defineTool({
  name: "set_config",
  title: { en: "Change a setting", zh: "修改设置" },
  description: "Changes one setting of a service; it takes effect at once. A person confirms it.",
  effect: "idempotent",
  scope: "config:write",
  input: z.object({
    service_id: ServiceId,
    key: z.string().min(1).max(64).describe("The setting's name, as get_service gives it."),
    value: z.int().describe("The new value, without its unit."),
  }),
  output: z.object({
    serviceId: z.string(),
    name: z.string(),
    unit: z.string(),
    before: z.int(),
    after: z.int(),
    version: z.int(),
  }),
  reversible: true,
  undo: "set_config",
  timeoutMs: 15_000,
  dedupeWindowMs: FOREVER_MS,
  normalize: (args) => {
    if (typeof args !== "object" || args === null || !("value" in args) || typeof args.value !== "string") return args;
    const [, digits] = /^\s*(-?\d{1,15})\s*[A-Za-z]{0,4}\s*$/.exec(args.value) ?? [];
    return digits === undefined ? args : { ...args, value: Number(digits) };
  },
  authorize: allowed,
  preview: async ({ service_id, key, value }, call: OpsCall) => {
    const texts = textsOf(call);
    const { spec, facts } = await serviceNow(service_id, call);
    const known = settingOf(spec, key);
    const setting = facts.settings.find(({ name }) => name === key);
    if (!known || !setting) throw new Error("the setting is not there to be shown");
    return {
      rows: [
        { label: texts.setting, value: `${service_id}.${key}` },
        { label: texts.value, before: withUnit(setting.value, known.unit), after: withUnit(value, known.unit) },
        { label: texts.recommended, value: withUnit(known.recommended, known.unit) },
      ],
      expect: { version: setting.version },
    };
  },
  execute: async ({ service_id: serviceId, key: name, value }, call: Execution<OpsDeps>) => {
    const expected = Expected.safeParse(call.expect);
    if (!expected.success) return unexpected();
    const act = await actOf(call.idempotencyKey);
    const { version } = expected.data;
    const changed = await call.deps.fleet.set(call.ctx, { serviceId, name, value, version, act });
    if (!changed) return changedSinceShown("The setting has changed");
    const spec = specOf(serviceId);
    return ok({ serviceId, name, unit: (spec && settingOf(spec, name)?.unit) ?? "", ...changed });
  },
  display: ({ serviceId, name, unit, before, after }, lang) =>
    OPS_TEXTS[lang].set(`${serviceId}.${name}`, withUnit(before, unit), withUnit(after, unit)),
});
