import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FLEET, specOf, type ServiceSpec } from "../../src/agents/opspilot/fleet.ts";
import { LONGEST_RESTART_MS, livesOf, memoryAt, type Facts } from "../../src/agents/opspilot/lives.ts";
import { linesOf } from "../../src/agents/opspilot/log-lines.ts";
import { observe, observeAll, type Fleet } from "../../src/agents/opspilot/observe.ts";

const MINUTE = 60_000;
const BORN = 1_700_000_000_000;

const newFacts = (spec: ServiceSpec): Facts => ({
  createdAt: BORN,
  boot: 1,
  startedAt: BORN - spec.ageMs,
  settings: spec.settings.map(({ name, initial }) => ({
    name,
    value: initial,
    version: 1,
    changedAt: BORN - 2 * spec.ageMs,
  })),
  restarts: [],
  changes: [],
});
const newFleet = (tenantId = "t1"): Fleet => ({
  tenantId,
  services: new Map(FLEET.map((spec) => [spec.id, newFacts(spec)])),
});
const changed = (fleet: Fleet, id: string, change: (facts: Facts) => Facts): Fleet => ({
  ...fleet,
  services: new Map([...fleet.services].map(([one, facts]) => [one, one === id ? change(facts) : facts])),
});
const restarted = (fleet: Fleet, id: string, startedAt: number): Fleet =>
  changed(fleet, id, (facts) => ({
    ...facts,
    boot: facts.boot + 1,
    startedAt,
    restarts: [...facts.restarts, { boot: facts.boot + 1, startedAt }],
  }));
const bounded = (fleet: Fleet, after: number, changedAt: number): Fleet =>
  changed(fleet, "checkout", (facts) => ({
    ...facts,
    changes: [...facts.changes, { name: "cache_max_mb", before: facts.changes.at(-1)?.after ?? 0, after, changedAt }],
  }));

function known(id: string): ServiceSpec {
  const spec = specOf(id);
  if (!spec) throw new Error(id);
  return spec;
}
const healthOf = (fleet: Fleet, id: string, at: number) => observe(fleet, known(id), at)?.health;
const messages = (fleet: Fleet, id: string, at: number, level?: string) =>
  linesOf(fleet, known(id), at)
    .filter((line) => level === undefined || line.level === level)
    .map(({ message }) => message);

test("a new fleet has one service that fails, one that suffers from it, and others that do well", () => {
  const views = observeAll(newFleet(), BORN);
  expect(views.map(({ id, health }) => [id, health])).toEqual([
    ["web", "degraded"],
    ["checkout", "failing"],
    ["search", "healthy"],
    ["mailer", "healthy"],
  ]);
  expect(views[1]).toMatchObject({ p95Ms: null, errorPercent: 100, memoryMb: 512, memoryLimitMb: 512 });
  expect(views[0]?.errorPercent).toBeGreaterThan(10);
});

test("its logs name the cause, what came of it, and that it stays down", () => {
  const lines = messages(newFleet(), "checkout", BORN + 1);
  const at = (part: string) => lines.findIndex((line) => line.includes(part));
  const order = [
    "cache_max_mb is 0: the cache has no bound (recommended: 128)",
    "memory at 384 of 512 MB",
    "memory at 461 of 512 MB",
    "out of memory: killed",
    "staying down until somebody restarts it",
    "connection refused, down for 1 min",
    "connection refused, down for 16 min",
  ].map(at);
  expect(order).not.toContain(-1);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(messages(newFleet(), "web", BORN, "error")).toEqual(["upstream checkout does not answer (HTTP 503)"]);
});

test("a restart takes some seconds, then it answers, and so does what depends on it", () => {
  const began = BORN + 5 * MINUTE;
  const fleet = restarted(newFleet(), "checkout", began);
  expect(healthOf(fleet, "checkout", began)).toBe("restarting");
  expect(healthOf(fleet, "web", began)).toBe("degraded");
  expect(healthOf(fleet, "checkout", began + LONGEST_RESTART_MS)).toBe("healthy");
  expect(healthOf(fleet, "web", began + LONGEST_RESTART_MS)).toBe("healthy");
  expect(messages(fleet, "checkout", began + LONGEST_RESTART_MS)).toContainEqual(
    expect.stringMatching(/^ready after .* \(boot 2\)$/),
  );
  expect(messages(fleet, "web", began + LONGEST_RESTART_MS, "info")).toContain("upstream checkout answers again");
});

test("with the bad setting it becomes slow again, and then fails again", () => {
  const began = BORN + MINUTE;
  const fleet = restarted(newFleet(), "checkout", began);
  const course = Array.from({ length: 30 }, (_, minute) =>
    healthOf(fleet, "checkout", began + 10_000 + minute * MINUTE),
  );
  expect([...new Set(course)]).toEqual(["healthy", "degraded", "failing"]);
  const p95 = (minute: number) => observe(fleet, known("checkout"), began + minute * MINUTE)?.p95Ms ?? 0;
  expect(p95(10)).toBeGreaterThan(1.5 * p95(1));
});

test("with the setting mended it stays well for good, whether that comes before or after the restart", () => {
  const after = bounded(restarted(newFleet(), "checkout", BORN), 128, BORN + 2 * MINUTE);
  const before = restarted(bounded(newFleet(), 128, BORN), "checkout", BORN + MINUTE);
  for (const fleet of [after, before]) {
    for (const hours of [1, 24, 1_000]) expect(healthOf(fleet, "checkout", BORN + hours * 60 * MINUTE)).toBe("healthy");
    expect(observe(fleet, known("checkout"), BORN + 600 * MINUTE)?.memoryMb).toBe(308);
  }
});

test("mending the setting while it is slow empties the cache; while it is down it does not start it", () => {
  const slow = restarted(newFleet(), "checkout", BORN);
  expect(healthOf(slow, "checkout", BORN + 9 * MINUTE)).toBe("degraded");
  expect(healthOf(bounded(slow, 128, BORN + 9 * MINUTE), "checkout", BORN + 9 * MINUTE + 1)).toBe("healthy");
  expect(healthOf(bounded(newFleet(), 128, BORN), "checkout", BORN + MINUTE)).toBe("failing");
});

test("a bound beyond the memory, or none again, brings it down again", () => {
  const mended = bounded(restarted(newFleet(), "checkout", BORN), 128, BORN + MINUTE);
  for (const value of [0, 1_024]) {
    const undone = bounded(mended, value, BORN + 60 * MINUTE);
    expect(healthOf(undone, "checkout", BORN + 61 * MINUTE)).toBe("healthy");
    expect(healthOf(undone, "checkout", BORN + 90 * MINUTE)).toBe("failing");
  }
  expect(messages(bounded(mended, 0, BORN + 60 * MINUTE), "checkout", BORN + 61 * MINUTE, "warn").at(-1)).toMatch(
    /no bound/,
  );
});

test("a service that has been down for a month has few lines to say so", () => {
  expect(messages(newFleet(), "checkout", BORN + 30 * 24 * 60 * MINUTE, "error").length).toBeLessThan(25);
});

test("two tenants' fleets differ in detail; one tenant's fleet is the same however often it is looked at", () => {
  const looks = ["t1", "t1", "t2"].map((tenant) => JSON.stringify(observeAll(newFleet(tenant), BORN)));
  expect(looks[0]).toBe(looks[1]);
  expect(looks[0]).not.toBe(looks[2]);
});

test("whatever was done and when: memory keeps between its base and its limit, and logs come in order and not early", () => {
  const act = fc.oneof(
    fc.record({ kind: fc.constant("restart" as const), after: fc.integer({ min: 1, max: 40 * MINUTE }) }),
    fc.record({
      kind: fc.constant("set" as const),
      after: fc.integer({ min: 1, max: 40 * MINUTE }),
      value: fc.integer({ min: 0, max: 1_024 }),
    }),
  );
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(act, { maxLength: 8 }), (tenant, acts) => {
      let fleet = newFleet(tenant);
      let now = BORN;
      for (const one of acts) {
        now += one.after;
        fleet = one.kind === "restart" ? restarted(fleet, "checkout", now) : bounded(fleet, one.value, now);
      }
      const facts = fleet.services.get("checkout");
      if (!facts) throw new Error("no facts");
      for (const life of livesOf(tenant, known("checkout"), facts)) {
        const until = life.crashAt ?? life.endedAt ?? now + 60 * MINUTE;
        for (let at = life.readyAt; at <= until; at += MINUTE) {
          expect(memoryAt(life, at)).toBeGreaterThanOrEqual(180);
          expect(memoryAt(life, at)).toBeLessThanOrEqual(512.01);
        }
        expect(life.crashAt ?? 0).toBeLessThan(life.endedAt ?? Infinity);
      }
      for (const spec of FLEET) {
        const times = linesOf(fleet, spec, now).map(({ at }) => at);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect(Math.max(0, ...times)).toBeLessThanOrEqual(now);
      }
    }),
    { numRuns: 100 },
  );
});
