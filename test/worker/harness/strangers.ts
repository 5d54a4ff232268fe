/** People beside the one whose conversation it is: of the same tenant with a place in it, or of another tenant. */
import { exports } from "cloudflare:workers";
import { ORIGIN, signIn, type Answered, type CallInit, type Person } from "./people.ts";
import type { Talk } from "./talk.ts";

export async function colleague(talk: Talk, role: "viewer" | "approver" | "editor" | "owner"): Promise<Person> {
  const person = await signIn();
  const place = `/v1/conversations/${talk.id}/participants/${person.userId}`;
  const { status } = await talk.person.ask("PUT", place, { body: { role } });
  if (status !== 200) throw new Error(`not shared: ${status}`);
  return person;
}

export interface Stranger {
  ask(method: string, path: string, init?: CallInit): Promise<Answered>;
}

/** Somebody with this sign-in; `scopes` absent: the development sign-in's usual ones. */
export async function signInTo(
  tenantId: string,
  userId: string,
  scopes?: readonly string[],
  ttlSeconds = 3_600,
): Promise<Stranger> {
  const send = async (method: string, path: string, headers: Record<string, string>, body: unknown) => {
    const request = new Request(ORIGIN + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await exports.default.fetch(request);
    const text = await response.text();
    const parsed = JSON.parse(text === "" ? "{}" : text) as Answered["body"];
    return { status: response.status, headers: response.headers, body: parsed };
  };
  const signedIn = await send(
    "POST",
    "/dev/token",
    {},
    {
      userId,
      tenantId,
      ttlSeconds,
      ...(scopes ? { scopes } : {}),
    },
  );
  const authorization = `Bearer ${String(signedIn.body["token"])}`;
  return {
    ask: (method, path, { body, headers = {} } = {}) => send(method, path, { authorization, ...headers }, body),
  };
}
