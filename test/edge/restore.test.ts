import { describe, expect, it } from "vitest";
import type { HistoryCandidate, RestoreDoor } from "../../src/edge/ports.ts";
import { Restored, type HistoryAccount } from "../../src/protocol/restore.ts";
import { emptyActor, problemIn, testEdge } from "./support/edge.ts";

const PATH = "/v1/admin/history/restore";
const idOf = (n: number) => String(n).padStart(2, "0").repeat(32);
const ULID = "0123456789abcdefghjkmnpqrs";
const candidates = Array.from({ length: 45 }, (_, n): HistoryCandidate => ({
  tenantId: `tenant-${String(n).padStart(2, "0")}`,
  conversationId: ULID,
}));

function world(unreachable: readonly string[] = []) {
  const asked: unknown[] = [];
  let atOnce = 0;
  let most = 0;
  const object = (objectId: string, tenantId: string) => ({
    objectId,
    restore: async (mode: string): Promise<HistoryAccount> => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      asked.push([objectId, mode]);
      if (unreachable.includes(objectId)) throw new Error("reset");
      const named = { tenantId, conversationId: ULID };
      return { kind: "conversation", ...named, head: 9, stood: 0, stands: 9, lagMs: 0, parked: [] };
    },
  });
  const door: RestoreDoor = {
    candidates: async ({ after, limit, ...crossing }) => {
      asked.push(crossing);
      const from = candidates.findIndex(({ tenantId }) => tenantId === after?.tenantId) + 1;
      return candidates.slice(from, from + limit);
    },
    named: async ({ tenantId }) => object(idOf(Number(tenantId.slice(-2))), tenantId),
    byId: (objectId) => object(objectId, "acme"),
  };
  const edge = testEdge(emptyActor, { restore: door });
  const order = async (json: unknown, who: Record<string, unknown> = {}, headers?: Record<string, string>) =>
    edge.call("POST", PATH, {
      json,
      headers: headers ?? { "x-audit-reason": "the database was restored" },
      authorization: `Bearer ${await edge.token({ userId: "root", scopes: ["platform:admin"], ...who })}`,
    });
  return { asked, order, edge, most: () => most };
}

describe("the history brought back", () => {
  it("asks the named objects, a few at a time, and says what each of them says", async () => {
    const { asked, order, most, edge } = world();
    const objectIds = Array.from({ length: 20 }, (_, n) => idOf(n));
    const answer = await order({ mode: "anew", objectIds });
    expect(answer.status).toBe(200);
    const { data, nextCursor } = Restored.parse(await answer.json());
    expect(data.map(({ objectId }) => objectId)).toEqual(objectIds);
    expect(nextCursor).toBeNull();
    expect(asked).toEqual(objectIds.map((id) => [id, "anew"]));
    expect(most()).toBeLessThanOrEqual(6);
    const trace = { target: "20 objects", reason: "the database was restored", operation: "restore_history (anew)" };
    expect(edge.log).toContainEqual({
      level: "warn",
      event: "administrator_acted",
      fields: expect.objectContaining(trace),
    });
  });

  it("goes through the conversations that the history names, page by page", async () => {
    const { asked, order } = world();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await order({ mode: "bring", ...(cursor === null ? {} : { cursor }) });
      const page = Restored.parse(await answer.json());
      seen.push(...page.data.map(({ objectId }) => objectId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(candidates.map((_, n) => idOf(n)));
    expect(asked).toContainEqual({ operator: "development/root", reason: "the database was restored" });
  });

  it("goes on with the others where one cannot be asked", async () => {
    const { order, edge } = world([idOf(1)]);
    const answer = await order({ mode: "look", objectIds: [idOf(0), idOf(1), idOf(2)] });
    const { data } = Restored.parse(await answer.json());
    expect(data.map(({ account }) => account.kind)).toEqual(["conversation", "unreachable", "conversation"]);
    expect(edge.log).toContainEqual(expect.objectContaining({ event: "history_not_restored" }));
  });

  it.each([
    ["a tenant's administrator", 403, "scope_missing", { scopes: ["tenant:admin"] }, undefined],
    ["nobody in particular", 403, "scope_missing", { scopes: [] }, undefined],
    ["an administrator who does not say why", 400, "audit_reason_missing", {}, {}],
  ])("is not for %s", async (_who, status, code, who, headers) => {
    const { asked, order } = world();
    const answer = await order({ mode: "bring", objectIds: [idOf(0)] }, who, headers);
    expect(await problemIn(answer)).toMatchObject({ status, code });
    expect(asked).toEqual([]);
  });

  it.each([
    { mode: "drop" },
    {},
    { mode: "bring", objectIds: [] },
    { mode: "bring", objectIds: ["c1.abc"] },
    { mode: "bring", objectIds: [`${"0".repeat(63)}G`] },
    { mode: "bring", objectIds: Array.from({ length: 51 }, (_, n) => idOf(n)) },
    { mode: "bring", tenantId: "acme" },
  ])("refuses %j", async (json) => {
    const { asked, order } = world();
    expect(await problemIn(await order(json))).toMatchObject({ status: 422, code: "invalid_request" });
    expect(asked).toEqual([]);
  });

  it("refuses a cursor that it did not give", async () => {
    const { order } = world();
    const forged = `${btoa(JSON.stringify(candidates[3])).replace(/=+$/, "")}.AAAA`;
    expect(await problemIn(await order({ mode: "look", cursor: forged }))).toMatchObject({ code: "cursor_invalid" });
  });
});
