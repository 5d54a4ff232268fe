/** What opspilot's tools share: the tenant's fleet now, names that are known, what was shown as expectation. */
import * as z from "zod";
import { langOf } from "../../protocol/texts.ts";
import type { Call, Refusal } from "../../tools/define-tool.ts";
import { notSent, refused, type ToolOutcome } from "../../tools/outcome.ts";
import type { FleetStore } from "./fleet-store.ts";
import { specOf, type ServiceSpec } from "./fleet.ts";
import type { Facts } from "./lives.ts";
import { observe, type Fleet, type ServiceView } from "./observe.ts";
import { OPS_TEXTS } from "./ops-texts.ts";

export interface OpsDeps {
  readonly fleet: FleetStore;
  readonly now: () => number;
  /** Rejects with the abort's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
export type OpsCall = Pick<Call<OpsDeps>, "ctx" | "deps">;

export const ServiceId = z.string().min(1).max(64).describe("The service's id, as list_services gives it.");
const NOT_FOUND = { ok: false, code: "not_found", message: "There is no such service." } as const;

export interface Seen {
  readonly fleet: Fleet;
  readonly spec: ServiceSpec;
  readonly facts: Facts;
  readonly view: ServiceView;
}

/** null: this tenant has no such service. */
export async function look(serviceId: string, { ctx, deps }: OpsCall): Promise<Seen | null> {
  const spec = specOf(serviceId);
  if (!spec) return null;
  const fleet = await deps.fleet.load(ctx.tenantId);
  const facts = fleet.services.get(serviceId);
  const view = observe(fleet, spec, deps.now());
  return facts && view ? { fleet, spec, facts, view } : null;
}

/** A fleet is the whole tenant's: its services may be acted on by whoever has the tool's scope there. */
export async function hasService({ service_id }: { service_id: string }, call: OpsCall): Promise<Refusal> {
  return (await look(service_id, call)) ? { ok: true } : NOT_FOUND;
}

/** As it stands now, for a preview; a preview that cannot see it fails. */
export async function serviceNow(serviceId: string, call: OpsCall): Promise<Seen> {
  const seen = await look(serviceId, call);
  if (!seen) throw new Error("the service is not there to be shown");
  return seen;
}

export const textsOf = ({ ctx }: Pick<OpsCall, "ctx">) => OPS_TEXTS[langOf(ctx.locale)];
export const noSuchService = (): ToolOutcome<never> => refused(NOT_FOUND.code, NOT_FOUND.message);
/** An expectation that is not there would let anything be overwritten. */
export const unexpected = (): ToolOutcome<never> =>
  notSent("changed_since_shown", "It is not known what was shown; nothing was done.");
export const changedSinceShown = (what: string): ToolOutcome<never> =>
  refused("changed_since_shown", `${what} since it was shown; nothing was done.`);
