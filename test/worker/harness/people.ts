/** Signing in by the development sign-in, and speaking to the Worker as that person. */
import { exports } from "cloudflare:workers";
import { HoldpointClient } from "../../../src/client/client.ts";

export const ORIGIN = "https://holdpoint.test";
export const TENANT = "development";

export interface Person {
  readonly tenantId: string;
  readonly userId: string;
  readonly token: string;
  readonly client: HoldpointClient;
  /** As it is, without retries; problems are not thrown. */
  call(method: string, path: string, init?: CallInit): Promise<Response>;
  /** The same, with the body read. */
  ask(method: string, path: string, init?: CallInit): Promise<Answered>;
}

/** A parsed answer; a problem's `code` stands in its body. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallInit {
  /** Sent as JSON where it is no text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const toWorker = (input: RequestInfo | URL, init?: RequestInit) => exports.default.fetch(new Request(input, init));

export async function signIn(
  userId = `user-${crypto.randomUUID()}`,
  tenantId = TENANT,
  ttlSeconds = 3_600,
): Promise<Person> {
  const response = await toWorker(`${ORIGIN}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId, tenantId, ttlSeconds }),
  });
  const { token } = (await response.json()) as { token: string };
  const client = new HoldpointClient({ baseUrl: ORIGIN, token: () => token, fetch: toWorker as typeof fetch });
  const call = (method: string, path: string, { body, headers = {} }: CallInit = {}) =>
    toWorker(ORIGIN + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    });
  const ask = async (method: string, path: string, init?: CallInit) => {
    const { status, headers, ...response } = await whole(await call(method, path, init));
    return { status, headers, body: JSON.parse(response.text === "" ? "{}" : response.text) as Answered["body"] };
  };
  return { tenantId, userId, token, client, call, ask };
}

const whole = async (response: Response) => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
});

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === "string" || body instanceof Uint8Array;
