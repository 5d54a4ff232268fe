/** Who takes part, and their development sign-in. */
import type { RequestContext } from "../../src/protocol/principal.ts";

export interface Person {
  readonly userId: string;
  readonly tenantId: string;
  /** Set once the service could be asked. */
  token: string;
}

export async function signIn(baseUrl: string, userId: string, tenantId: string): Promise<Person> {
  const response = await fetch(`${baseUrl}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId, tenantId, ttlSeconds: 86_400 }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  const { token } = (await response.json()) as { token: string };
  return { userId, tenantId, token };
}

export async function share(
  baseUrl: string,
  conversationId: string,
  owner: Person,
  userId: string,
  role: "viewer" | "editor",
): Promise<void> {
  const response = await fetch(`${baseUrl}/v1/conversations/${conversationId}/participants/${userId}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
    body: JSON.stringify({ role }),
  });
  if (!response.ok) throw new Error(`not shared: ${response.status}`);
}

/** As the checker's records want it. */
export const contextOf = ({ userId, tenantId }: Person): RequestContext => ({
  userId,
  tenantId,
  roles: [],
  scopes: [],
  requestId: "rig",
  traceId: "rig",
  expiresAt: Number.MAX_SAFE_INTEGER,
});
