/** Who takes part in a simulated conversation. */
import type { RequestContext } from "../src/protocol/principal.ts";
import { SCOPES } from "../src/protocol/roles.ts";

const { conversationsRead, conversationsWrite, confirmationsDecide, handoverOperate } = SCOPES;

export interface People {
  readonly tenantId: string;
  context(user: string): RequestContext;
}

/** What each may by sign-in; their places in the conversation are given to them in it. */
const SCOPES_OF: Readonly<Record<string, readonly string[]>> = {
  alice: [conversationsRead, conversationsWrite, confirmationsDecide, "services:restart"],
  bob: [conversationsRead, conversationsWrite, confirmationsDecide],
  carol: [conversationsRead, conversationsWrite, confirmationsDecide, "services:restart"],
  // Only his place keeps him from deciding.
  dave: [conversationsRead, conversationsWrite, confirmationsDecide],
  olga: [conversationsRead, conversationsWrite, confirmationsDecide, handoverOperate],
  mallory: [conversationsRead, conversationsWrite, confirmationsDecide, "services:restart"],
};

/** alice owns it; bob edits, carol approves, dave watches; olga operates; mallory is of another tenant. */
export const PLACES = [
  { userId: "bob", role: "editor" },
  { userId: "carol", role: "approver" },
  { userId: "dave", role: "viewer" },
] as const;

export function peopleOf(tenantId: string): People {
  return {
    tenantId,
    context: (userId) => ({
      tenantId: userId === "mallory" ? `${tenantId}-other` : tenantId,
      userId,
      roles: [],
      scopes: [...(SCOPES_OF[userId] ?? [])],
      requestId: `req-${userId}`,
      traceId: "trace",
      expiresAt: Number.MAX_SAFE_INTEGER,
    }),
  };
}
