import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { migrateActor } from "../../src/sql/actor-migrations.ts";
import { Circuits } from "../../src/tenant/circuits.ts";
import { LEDGER_MIGRATIONS } from "../../src/tenant/ledger-migrations.ts";
import { Occupancy, OCCUPANCY_MS } from "../../src/tenant/occupancy.ts";
import { Waiting } from "../../src/tenant/waiting.ts";
import { nodeSql } from "../support/node-sql.ts";

const NOW = Date.UTC(2026, 10, 30, 10);
const T = "acme";

function opened() {
  const sql = nodeSql(new DatabaseSync(":memory:"));
  migrateActor(sql, LEDGER_MIGRATIONS, NOW);
  return sql;
}

describe("runs of a tenant at once", () => {
  test("are let in up to the bound, also while none of them is registered yet", () => {
    const runs = new Occupancy(opened());
    expect(runs.hold(T, "a", "c1", 2, NOW)).toBe(true);
    expect(runs.hold(T, "b", "c2", 2, NOW)).toBe(true);
    expect(runs.hold(T, "c", "c3", 2, NOW)).toBe(false);
  });

  test("are a level that the actor tells: its holds are part of it, and telling it twice changes nothing", () => {
    const runs = new Occupancy(opened());
    runs.hold(T, "a", "c1", 2, NOW);
    runs.level(T, "c1", 1, NOW);
    runs.level(T, "c1", 1, NOW);
    expect(runs.count(T)).toBe(1);
    runs.level(T, "c1", 2, NOW);
    expect(runs.hold(T, "b", "c2", 2, NOW)).toBe(false);
    runs.level(T, "c1", 0, NOW);
    expect(runs.count(T)).toBe(0);
  });

  test("of a start that was refused after all are given back", () => {
    const runs = new Occupancy(opened());
    runs.hold(T, "a", "c1", 1, NOW);
    runs.release(T, "a");
    expect(runs.hold(T, "b", "c2", 1, NOW)).toBe(true);
  });

  test("expire where nobody speaks of them any more: a hold soon, a level in an hour", () => {
    const runs = new Occupancy(opened());
    runs.hold(T, "a", "c1", 9, NOW);
    runs.level(T, "c2", 3, NOW);
    expect(runs.sweep(NOW)).toBe(NOW + 30_000);
    expect(runs.sweep(NOW + 30_000)).toBe(NOW + OCCUPANCY_MS);
    expect(runs.count(T)).toBe(3);
    expect(runs.sweep(NOW + OCCUPANCY_MS)).toBeNull();
    expect(runs.count(T)).toBe(0);
  });
});

describe("the breaker of a tool over runs", () => {
  const rules = { failures: 3, openMs: 10_000 };
  const openedAt = (circuits: Circuits, times: number, now: number) =>
    Array.from({ length: times }, () => circuits.failed(T, "look", rules, now)).at(-1);

  test("opens with so many failures in a row, says so once, and closes by time", () => {
    const circuits = new Circuits(opened());
    expect(openedAt(circuits, 2, NOW)).toEqual({ failures: 2, openUntil: 0, opened: false });
    expect(openedAt(circuits, 1, NOW)).toEqual({ failures: 3, openUntil: NOW + 10_000, opened: true });
    expect(openedAt(circuits, 1, NOW + 1)).toMatchObject({ openUntil: NOW + 10_000, opened: false });
  });

  test("opens again with the first failure after that", () => {
    const circuits = new Circuits(opened());
    openedAt(circuits, 3, NOW);
    expect(openedAt(circuits, 1, NOW + 10_000)).toMatchObject({ openUntil: NOW + 20_000, opened: true });
  });

  test("stays closed for failures with a success between them, far apart, or of other tools and tenants", () => {
    const circuits = new Circuits(opened());
    openedAt(circuits, 2, NOW);
    circuits.worked(T, "look");
    expect(openedAt(circuits, 2, NOW)).toMatchObject({ failures: 2, opened: false });
    expect(openedAt(circuits, 1, NOW + 3_600_000)).toMatchObject({ failures: 1, opened: false });
    openedAt(circuits, 1, NOW + 3_600_000);
    expect(circuits.failed(T, "other", rules, NOW + 3_600_000)).toMatchObject({ failures: 1 });
    expect(circuits.failed("other tenant", "look", rules, NOW + 3_600_000)).toMatchObject({ failures: 1 });
  });
});

test("those who wait are told one after the other, the oldest first, once each", () => {
  const waiting = new Waiting(opened());
  waiting.add(T, "b", NOW);
  waiting.add(T, "a", NOW + 1);
  waiting.add(T, "b", NOW + 2);
  waiting.add("other tenant", "x", NOW);
  expect(waiting.tenants().toSorted()).toEqual([T, "other tenant"]);
  expect(waiting.next(T, 1)).toEqual(["b"]);
  expect(waiting.next(T, 5)).toEqual(["a"]);
  expect(waiting.next(T, 5)).toEqual([]);
  waiting.sweep(NOW);
  expect(waiting.tenants()).toEqual([]);
});
