/** The only way to an actor: by tenant and conversation, never by a raw object id. */
import { objectName } from "./object-name.ts";

export interface Tenant {
  readonly id: string;
  /** Where the tenant's objects must live. Immutable: another jurisdiction is another object. */
  readonly jurisdiction?: DurableObjectJurisdiction;
}

/** As much of a Durable Object namespace as this takes. */
export interface ActorNamespace<Stub> {
  getByName(name: string): Stub;
  jurisdiction(jurisdiction: DurableObjectJurisdiction): ActorNamespace<Stub>;
}

export async function stubFor<Stub>(
  env: { readonly CONVERSATIONS: ActorNamespace<Stub> },
  tenant: Tenant,
  conversationId: string,
): Promise<Stub> {
  const name = await objectName(tenant.id, conversationId);
  const { CONVERSATIONS } = env;
  const namespace = tenant.jurisdiction === undefined ? CONVERSATIONS : CONVERSATIONS.jurisdiction(tenant.jurisdiction);
  return namespace.getByName(name);
}
