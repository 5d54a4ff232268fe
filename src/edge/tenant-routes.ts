/**
 * Who counts. A tenant's administrator deactivates users of the own tenant and lets them in again; a platform's
 * administrator does so with tenants, and pauses them, always with a reason. What is answered holds: from then on nothing
 * of the deactivated is accepted. Their sockets and runs are ended by a sweep, whose progress the answer tells.
 */
import * as z from "zod";
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { TenantStanding, UserStanding } from "../protocol/standing.ts";
import { PlainTenantId, PlainUserId } from "./claims.ts";
import type { StandingDoor } from "./ports.ts";
import { OVERLOADED } from "./problems.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, userRoute, type Answered, type EdgeServices, type Route } from "./route.ts";

const UserPath = z.object({ id: PlainUserId });
const TenantPath = z.object({ id: PlainTenantId });

const OF_USER = { schema: UserStanding, example: EXAMPLES.userStanding } as const;
const OF_TENANT = { schema: TenantStanding, example: EXAMPLES.tenantStanding } as const;
const CHANGED = "It holds. The sweep that ends sockets and runs may still be under way.";

const read = { method: "GET", query: NONE, body: NO_BODY, bodyUse: "none", key: "none" } as const;
const change = {
  method: "POST",
  query: NONE,
  body: z.strictObject({}),
  bodyUse: "optional",
  bodyExample: EXAMPLES.nothing,
  // Twice is once: there is nothing that a key would keep from happening again.
  key: "accepted",
  problems: ["forbidden"],
} as const;

export const tenantRoutes = (door: StandingDoor): readonly Route[] => [
  userRoute({
    ...read,
    path: "/v1/tenant/users/:id",
    summary: "Whether a user of the tenant counts, and how far the last sweep has come.",
    scope: SCOPES.tenantAdmin,
    params: UserPath,
    answers: { 200: { description: "The user's standing.", ...OF_USER } },
    handle: async ({ context, params: { id } }, edge) =>
      told(edge, context, 200, () => door.user(context.tenantId, id)),
  }),
  ...(["deactivate", "reactivate"] as const).map((what) =>
    userRoute({
      ...change,
      path: `/v1/tenant/users/:id/${what}`,
      summary: USER_SUMMARIES[what],
      scope: SCOPES.tenantAdmin,
      params: UserPath,
      answers: { 202: { description: CHANGED, ...OF_USER } },
      handle: async ({ context, params: { id } }, edge) => {
        if (id === context.userId) return refuse("You cannot do this to yourself.");
        return told(edge, context, 202, () => door.changeUser(what, context.userId, context.tenantId, id));
      },
    }),
  ),
  userRoute({
    ...read,
    path: "/v1/admin/tenants/:id",
    summary: "Whether a tenant counts, whether it is paused, and how far the last sweep has come.",
    scope: SCOPES.platformAdmin,
    auditReason: true,
    params: TenantPath,
    answers: { 200: { description: "The tenant's standing.", ...OF_TENANT } },
    handle: async ({ context, params: { id }, reason }, edge) => {
      noted(edge, context, "read", id, reason);
      return told(edge, context, 200, () => door.tenant(id));
    },
  }),
  ...(["deactivate", "reactivate", "pause", "resume"] as const).map((what) =>
    userRoute({
      ...change,
      path: `/v1/admin/tenants/:id/${what}`,
      summary: TENANT_SUMMARIES[what],
      scope: SCOPES.platformAdmin,
      auditReason: true,
      params: TenantPath,
      answers: { 202: { description: CHANGED, ...OF_TENANT } },
      handle: async ({ context, params: { id }, reason }, edge) => {
        if (id === context.tenantId && what === "deactivate") return refuse("You cannot deactivate your own tenant.");
        noted(edge, context, what, id, reason);
        return told(edge, context, 202, () => door.changeTenant(what, `${context.tenantId}/${context.userId}`, id));
      },
    }),
  ),
];

const USER_SUMMARIES = {
  deactivate: "Lock a user out: their tokens, sockets and runs end.",
  reactivate: "Let a user in again, with tokens issued from now on.",
} as const;
const TENANT_SUMMARIES = {
  deactivate: "Lock a tenant out: everybody's tokens, sockets and runs end.",
  reactivate: "Let a tenant in again, with tokens issued from now on.",
  pause: "Let nothing new begin in a tenant. What runs waits; people can still cancel and reject.",
  resume: "End a tenant's pause.",
} as const;

const refuse = (detail: string): Result<never> => ({ ok: false, rejection: reject("forbidden", detail) });

/** An administrator who crosses tenants leaves a trace: who, where, what for. */
function noted(
  edge: EdgeServices,
  { userId, tenantId, requestId }: RequestContext,
  operation: string,
  target: string,
  reason: string,
): void {
  edge.log.warn("administrator_acted", { requestId, userId, tenantId, operation, target, reason });
}

async function told(
  edge: EdgeServices,
  { requestId }: RequestContext,
  status: number,
  ask: () => Promise<UserStanding | TenantStanding>,
): Promise<Answered> {
  try {
    return ok(status, await ask());
  } catch (error) {
    edge.log.error("standing_unavailable", error, { requestId });
    return { ok: false, rejection: OVERLOADED };
  }
}
