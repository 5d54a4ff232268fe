/**
 * Plans behind a PostgREST-style gateway, `/v1/rdb/rest/plans`, with a key of its own. Columns: `id, tenant_id, user_id,
 * title, notes, version, last_change, created_at, updated_at`.
 *
 * An answer counts only when it holds the row that was asked for. A refused key is named by its fingerprint, so that
 * people can see which of their keys it is, and nobody can use it.
 */
import * as z from "zod";
import { badResponse, callJson, codeOf, type JsonAnswer } from "../../tools/call-json.ts";
import type { ToolFailure } from "../../tools/outcome.ts";
import { hexDigest, stored, type Owner, type PlanStore, type Stored, type StoredPlan } from "./plan-store.ts";

const Row = z
  .object({
    id: z.string(),
    title: z.string(),
    notes: z.string().nullish(),
    version: z.int().nullish(),
    last_change: z.string().nullish(),
    created_at: z.string(),
    updated_at: z.string().nullish(),
  })
  .transform(({ id, title, notes, version, last_change, created_at, updated_at }): StoredPlan => {
    const times = { createdAt: created_at, updatedAt: updated_at ?? created_at };
    return { plan: { id, title, notes: notes ?? "", version: version ?? 1, ...times }, lastChange: last_change ?? "" };
  });
const Rows = z.array(Row);

const PATH = "/v1/rdb/rest/plans";
const ROWS_BACK = { prefer: "return=representation" };

export interface Gateway {
  readonly fetch: typeof fetch;
  readonly url: string;
  /** Empty: none is sent. */
  readonly key: string;
  readonly now: () => number;
}
type Asked = { readonly method: "GET" | "POST" | "PATCH" | "DELETE"; readonly query?: Query; readonly body?: unknown };
type Query = Readonly<Record<string, string>>;

export class RestPlanStore implements PlanStore {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async list(owner: Owner, limit: number, signal: AbortSignal) {
    const query = { ...ofOwner(owner), order: "created_at.desc", limit: String(limit) };
    const rows = await this.#rows({ method: "GET", query }, signal);
    return rows.ok ? stored(rows.value.map(({ plan }) => plan)) : rows;
  }

  async find(owner: Owner, id: string, signal: AbortSignal) {
    const rows = await this.#rows({ method: "GET", query: { ...ofOwner(owner), id: `eq.${id}`, limit: "1" } }, signal);
    return rows.ok ? stored(rows.value[0] ?? null) : rows;
  }

  async insert(owner: Owner, { id, title, notes, mark }: Parameters<PlanStore["insert"]>[1], signal: AbortSignal) {
    const { tenantId: tenant_id, userId: user_id } = owner;
    const body = { id, tenant_id, user_id, title, notes, version: 1, last_change: mark };
    const rows = await this.#rows({ method: "POST", body }, signal);
    if (!rows.ok) {
      // The id is this act's own: a plan that has it is the one that an earlier attempt stored.
      const found = rows.refused.http?.status === 409 ? await this.find(owner, id, signal) : null;
      return found?.ok && found.value ? stored(found.value.plan) : rows;
    }
    return stored(theRow(rows.value, id).plan);
  }

  async update(owner: Owner, change: Parameters<PlanStore["update"]>[1], signal: AbortSignal) {
    const { id, version, title, notes, mark } = change;
    const body = {
      ...(title === undefined ? {} : { title }),
      ...(notes === undefined ? {} : { notes }),
      version: version + 1,
      last_change: mark,
      updated_at: new Date(this.#gateway.now()).toISOString(),
    };
    const rows = await this.#rows(
      { method: "PATCH", query: { ...ofOwner(owner), ...ofVersion(change) }, body },
      signal,
    );
    if (!rows.ok) return rows;
    return stored(rows.value.length === 0 ? null : theRow(rows.value, id).plan);
  }

  async remove(owner: Owner, plan: Parameters<PlanStore["remove"]>[1], signal: AbortSignal) {
    const rows = await this.#rows({ method: "DELETE", query: { ...ofOwner(owner), ...ofVersion(plan) } }, signal);
    if (!rows.ok) return rows;
    return stored(rows.value.length > 0 && theRow(rows.value, plan.id) !== null);
  }

  async #rows({ method, query = {}, body }: Asked, signal: AbortSignal): Promise<Stored<readonly StoredPlan[]>> {
    const { fetch, url, key } = this.#gateway;
    const target = new URL(PATH, url);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const headers = {
      ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
      ...(method === "GET" ? {} : ROWS_BACK),
    };
    const answer = await callJson({ fetch, url: target, method, headers, body, signal });
    if (answer.status >= 300) return { ok: false, refused: await refusalOf(answer, key) };
    const rows = Rows.safeParse(answer.body);
    if (rows.success) return stored(rows.data);
    throw badResponse("The gateway's answer was not what was agreed.", { status: answer.status, body: answer.text });
  }
}

/** Values are the sign-in's and our own; `URLSearchParams` encodes them, so none can add a condition. */
const ofOwner = ({ tenantId, userId }: Owner): Query => ({ tenant_id: `eq.${tenantId}`, user_id: `eq.${userId}` });
const ofVersion = ({ id, version }: { id: string; version: number }): Query => ({
  id: `eq.${id}`,
  version: `eq.${version}`,
});

function theRow(rows: readonly StoredPlan[], id: string): StoredPlan {
  const [row] = rows;
  if (rows.length === 1 && row?.plan.id === id) return row;
  throw badResponse("The gateway did not answer with the plan that was asked for.");
}

async function refusalOf({ status, body, text }: JsonAnswer, key: string): Promise<ToolFailure> {
  const http = { status, body: text };
  const own = codeOf(body);
  const refusal = { layer: "gateway", http, retryable: false } as const;
  if (status === 401) {
    const which = key === "" ? "no key was sent" : `key sha256:${(await hexDigest(key)).slice(0, 8)}`;
    return {
      ...refusal,
      code: own ?? "GATEWAY_UNAUTHORIZED",
      message: `The gateway refused the credential (${which}).`,
    };
  }
  if (status === 403)
    return { ...refusal, code: own ?? "GATEWAY_FORBIDDEN", message: "The gateway does not allow this." };
  return { ...refusal, code: own ?? "GATEWAY_REFUSED", message: `The gateway refused the request (HTTP ${status}).` };
}
