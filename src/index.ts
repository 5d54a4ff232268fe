/** The Worker: hands each request to the edge, wired once per isolate. A root: it decides nothing. */
import { deploymentOf } from "./deployment.ts";
import { createEdge, type Edge } from "./edge/app.ts";
import { localOnly, PUBLIC_DEVELOPMENT } from "./edge/local-only.ts";
import { refusingEdge } from "./edge/refusing-edge.ts";
import { stubFor } from "./edge/stub-for.ts";
import { edgeRates } from "./edge/edge-rates.ts";
import { historyReader } from "./history/history-reader.ts";
import { restoreDoor } from "./restore-door.ts";
import { createLog } from "./observe/log.ts";
import { langOf } from "./protocol/texts.ts";
import { standingDoor } from "./tenant/standing-door.ts";

export { ConversationObject } from "./conversation-object.ts";
export { StandingObject } from "./standing-object.ts";
export { LedgerObject } from "./tenant/ledger-object.ts";
export { RegistryObject } from "./tenant/registry-object.ts";

let edge: Edge | null = null;

/** Kept once it serves; a failure is met anew by the next request, and may have passed. */
async function edgeOf(env: Env): Promise<Edge> {
  if (edge) return edge;
  const refusing = (cause: unknown) =>
    refusingEdge(cause, createLog({ service: "holdpoint" }, { development: false }), () => Date.now());
  try {
    const { settings, log, clock, agents, standing, levelsOf } = await deploymentOf(env);
    const rates = edgeRates(env);
    const serving = createEdge({
      settings,
      log,
      now: () => clock.now(),
      actor: (tenant, conversationId) => stubFor(env, tenant, conversationId),
      history: historyReader(env.HISTORY),
      budget: levelsOf,
      agents: (locale) => agents.describe(langOf(locale)),
      admit: ({ tenantId, userId }) => rates(tenantId, userId),
      standing: (context) => standing.refusal(context),
      tenants: standingDoor((name) => env.STANDING.getByName(name)),
      restore: restoreDoor(env),
      readiness: async () => ({ history: await answers(env.HISTORY), app: await answers(env.APP) }),
    });
    edge = localOnly(serving, settings, refusing(PUBLIC_DEVELOPMENT));
    return edge;
  } catch (error) {
    return refusing(error);
  }
}

/** Throws nothing: what went wrong is the log's business, here it is a no. */
async function answers(db: D1Database): Promise<boolean> {
  try {
    await db.prepare("SELECT 1").first();
    return true;
  } catch {
    return false;
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    return (await edgeOf(env)).fetch(request);
  },
} satisfies ExportedHandler<Env>;
