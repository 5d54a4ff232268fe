import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Sql } from "../../src/sql/rows.ts";
import { KEY_LIFE_MS, Registry } from "../../src/tenant/registry.ts";

const NOW = 1_800_000_000_000;

function sql(): Sql {
  const db = new DatabaseSync(":memory:");
  return {
    exec: (text, ...params) => {
      if (params.length === 0 && text.includes(";")) {
        db.exec(text);
        return { toArray: () => [] };
      }
      const bound = params.map((param) => (param instanceof ArrayBuffer ? new Uint8Array(param) : param));
      // SQLite numbers its parameters; node:sqlite binds them by position, which is the same for `?` and `?1`.
      const rows = db.prepare(text).all(...bound);
      return { toArray: () => rows };
    },
  };
}

const request = { key: "k", digest: "d1", conversationId: "c1", life: "l1" };

describe("a tenant's register of keys", () => {
  test("gives a key to the first request, and to the same request again", () => {
    const registry = new Registry(sql(), NOW);
    expect(registry.claim(request, NOW)).toBe(true);
    expect(registry.claim(request, NOW)).toBe(true);
  });

  test.each([
    ["another body", { ...request, digest: "d2" }],
    ["another conversation", { ...request, conversationId: "c2" }],
  ])("refuses it to %s", (_, other) => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    expect(registry.claim(other, NOW)).toBe(false);
    expect(registry.claim(other, NOW + KEY_LIFE_MS - 1)).toBe(false);
  });

  test("gives it to anybody a day after its last use, swept or not", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    registry.claim(request, NOW + 1_000);
    const other = { ...request, conversationId: "c2" };
    expect(registry.claim(other, NOW + KEY_LIFE_MS)).toBe(false);
    expect(registry.claim(other, NOW + KEY_LIFE_MS + 1_000)).toBe(true);
  });

  test("frees the key of a command that was refused", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    registry.release(request, NOW);
    expect(registry.claim({ ...request, digest: "d2" }, NOW)).toBe(true);
  });

  test("keeps the key while a twin of the refused command still holds it", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    registry.claim(request, NOW);
    registry.release(request, NOW);
    expect(registry.claim({ ...request, digest: "d2" }, NOW)).toBe(false);
  });

  test("forgets the holders of an actor that died: a refusal in its next life frees the key", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    registry.claim(next, NOW);
    registry.release(next, NOW);
    expect(registry.claim({ ...next, digest: "d2" }, NOW)).toBe(true);
  });

  const late = request;
  const next = { ...request, life: "l2" };
  const other = { ...request, digest: "d2", life: "l2" };

  test("is not held by a claim of a dead life that lands after a later life's", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(next, NOW);
    expect(registry.claim(late, NOW)).toBe(true);
    registry.release(next, NOW);
    expect(registry.claim(other, NOW)).toBe(true);
  });

  test("is not taken by one that lands when the later life has given the key back", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(next, NOW);
    registry.release(next, NOW);
    expect(registry.claim(late, NOW + 30_000)).toBe(false);
    expect(registry.claim(other, NOW + 30_000)).toBe(true);
    expect(registry.claim(late, NOW + 30_001)).toBe(false);
  });

  test("is held for a day at most by a life that died and was not followed by anybody", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(late, NOW);
    expect(registry.claim(other, NOW + KEY_LIFE_MS - 1)).toBe(false);
    expect(registry.claim(other, NOW + KEY_LIFE_MS)).toBe(true);
  });

  test("takes a key again that the same life has given back", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(next, NOW);
    registry.release(next, NOW);
    registry.release(next, NOW);
    expect(registry.claim(next, NOW)).toBe(true);
    expect(registry.claim(other, NOW)).toBe(false);
  });

  test("is not released by a request that does not hold it", () => {
    const registry = new Registry(sql(), NOW);
    registry.claim(request, NOW);
    registry.release({ ...request, digest: "d2" }, NOW);
    expect(registry.claim({ ...request, digest: "d2" }, NOW)).toBe(false);
  });

  test("forgets what has expired, and says when to come back", () => {
    const registry = new Registry(sql(), NOW);
    expect(registry.sweep(NOW)).toBeNull();
    registry.claim(request, NOW);
    expect(registry.sweep(NOW + 1)).toBe(NOW + KEY_LIFE_MS);
    expect(registry.sweep(NOW + KEY_LIFE_MS)).toBeNull();
  });
});
