/**
 * What all objects of an isolate share, made once from the environment: settings, agents, the model's client. A root:
 * wiring, no decisions.
 */
import { tracing } from "cloudflare:workers";
import { OUTSIDE_KEY_PURPOSE } from "./effects/outside-key.ts";
import { Agents } from "./effects/agent-port.ts";
import { Budgets } from "./effects/budgets.ts";
import { deriveKey } from "./effects/derive-key.ts";
import { ToolExecution } from "./effects/execute-call.ts";
import { modelClient, type ModelClient } from "./effects/model-client.ts";
import { Preparation } from "./effects/preparation.ts";
import { pricesOf, type Prices } from "./effects/prices.ts";
import type { Spans } from "./effects/spans.ts";
import { ToolCatalogue } from "./effects/tool-catalogue.ts";
import { ToolCircuits } from "./effects/tool-circuits.ts";
import { toolSettings } from "./effects/tool-settings.ts";
import { readSettings, type Settings } from "./edge/settings.ts";
import type { Clock, Log } from "./actor/ports.ts";
import { availableAgents } from "./agents/registry.ts";
import { Alarms } from "./history/alarms.ts";
import { createLog } from "./observe/log.ts";
import { platformSpans } from "./observe/platform-spans.ts";
import { migrateLocally } from "./local-migrations.ts";
import { hasLimits, type BudgetLevels } from "./protocol/budget.ts";
import { DURATIONS } from "./protocol/limits.ts";
import { rehearsalFetch } from "./rehearsal/rehearsal-fetch.ts";
import { ledgerName, SERVICE_LEDGER } from "./tenant/ledger-name.ts";
import { StandingLeases } from "./tenant/standing-leases.ts";
import { standingName } from "./tenant/standing-name.ts";

export interface Deployment {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly catalogue: ToolCatalogue;
  readonly agents: Agents;
  readonly preparation: Preparation;
  readonly execution: ToolExecution;
  readonly model: ModelClient;
  readonly prices: Prices;
  readonly spans: Spans;
  /** What is used of a tenant's limits; null: it has none. */
  readonly levelsOf: (tenantId: string) => Promise<BudgetLevels | null>;
  readonly alarms: Alarms;
  /** @param object the name of the conversation's object */
  readonly budgetsOf: (object: string) => Budgets;
  readonly standing: StandingLeases;
}

const clock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

let deployment: Deployment | null = null;

/** @throws SettingsRefused where this deployment may not serve */
export async function deploymentOf(env: Env): Promise<Deployment> {
  // The value is kept, not its promise: a promise belongs to the request that made it, and a failure would stay.
  deployment ??= await build(env);
  return deployment;
}

async function build(env: Env): Promise<Deployment> {
  const variables: Readonly<Record<string, unknown>> = { ...env };
  const settings = readSettings(variables);
  const development = settings.environment === "development";
  const secrets = [settings.masterKey, settings.model.apiKey].filter((secret) => secret !== undefined);
  const log = createLog({ service: "holdpoint" }, { development, secrets });
  const migrated = development ? await migrateLocally(env) : [];
  if (migrated.length > 0) log.info("local_databases_migrated", { migrations: migrated.join(", ") });
  const variable = (name: string) => {
    const value = variables[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  // Called as a method of something else, the platform's fetch refuses.
  const outside: typeof fetch = (input, init) => fetch(input, init);
  const model = modelClient(
    {
      OPENAI_API_KEY: settings.model.apiKey,
      OPENAI_BASE_URL: settings.model.baseUrl,
      OPENAI_MODEL: settings.model.name,
    },
    { fetch: outside, rehearsal: rehearsalFetch({ faults: development, pace: development ? 15 : 0 }) },
  );
  const catalogue = new ToolCatalogue(availableAgents(variable).values(), {
    app: env.APP,
    fetch: outside,
    variable,
    now: () => Date.now(),
  });
  const tools = toolSettings({
    model: model.model,
    limits: settings.runLimits,
    cancelGraceMs: settings.cancelGraceMs,
    backoffMs: settings.backoffMs,
    confirmationMs: settings.confirmationMs,
  });
  const { budgets } = settings;
  const standing = new StandingLeases({
    ask: async (tenantId, userId) => env.STANDING.getByName(await standingName(tenantId)).standing(tenantId, userId),
    askAll: async (tenantId, userIds) =>
      env.STANDING.getByName(await standingName(tenantId)).standings(tenantId, userIds),
    now: () => Date.now(),
    leaseMs: DURATIONS.standingLeaseMs,
    failed: (error) => log.error("standing_unavailable", error),
  });
  const prices = pricesOf(variable("MODEL_PRICES"));
  const spans = platformSpans(tracing);
  const limitsOf = (tenantId: string) => budgets.tenants.get(tenantId) ?? budgets.tenant;
  const ledgerOf = async (tenantId: string) => env.LEDGERS.getByName(await ledgerName(tenantId));
  const key = await deriveKey(settings.masterKey, OUTSIDE_KEY_PURPOSE);
  const preparation = new Preparation(catalogue, { clock, log, settings: tools, key });
  return {
    settings,
    log,
    clock,
    catalogue,
    preparation,
    agents: new Agents(catalogue, preparation, tools),
    execution: new ToolExecution(catalogue, {
      clock,
      log,
      settings: tools,
      standingOf: (tenantId, userId) => standing.of(tenantId, userId),
      spans,
      circuits: new ToolCircuits({
        clock,
        log,
        rules: settings.toolCircuit,
        ledger: ledgerOf,
      }),
    }),
    model,
    prices,
    spans,
    levelsOf: async (tenantId) => {
      const limits = limitsOf(tenantId);
      return hasLimits(limits) ? (await ledgerOf(tenantId)).levels(tenantId, limits) : null;
    },
    alarms: new Alarms({ db: env.HISTORY, log, now: () => Date.now(), thresholds: settings.alarms }),
    budgetsOf: (object) =>
      new Budgets({
        clock,
        log,
        prices,
        settings: { ...budgets, limitsOf },
        tenant: ledgerOf,
        service: async () => env.LEDGERS.getByName(SERVICE_LEDGER),
        object,
        model: model.model,
      }),
    standing,
  };
}
