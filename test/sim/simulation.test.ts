import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../sim/check/check.ts";
import { HistoryTables } from "../../sim/history.ts";
import type { Observation } from "../../sim/observation.ts";
import { BUGS } from "../../sim/planted/bugs.ts";
import { planOf } from "../../sim/plan.ts";
import { newRegister } from "../../sim/registry.ts";
import { Runner } from "../../sim/runner.ts";
import { deaths, interleavings, playSmall } from "../../sim/small-scope.ts";
import { World } from "../../sim/world.ts";

const shared = () => ({
  history: new HistoryTables(),
  expected: new HistoryTables(),
  register: newRegister(),
  stores: [],
});
const play = (seed: number): Promise<Observation> => new World(planOf(seed), shared()).run();
const lawsOf = (seen: Observation, seed: number) => new Set(check(seen, planOf(seed)).map(({ law }) => law));

describe("a schedule", () => {
  test("holds every law", { timeout: 60_000 }, async () => {
    const runner = new Runner();
    for (let seed = 1; seed <= 40; seed++) {
      const { violations } = await runner.run(seed);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
    }
  });

  test("is the same every time that its seed is played", { timeout: 60_000 }, async () => {
    for (const seed of [4, 27, 118]) {
      const first = await play(seed);
      const databases = shared();
      // In a database that has served another schedule as in a new one.
      await new World(planOf(seed + 1), databases).run();
      const again = await new World(planOf(seed), databases).run();
      expect(again.logJson).toEqual(first.logJson);
      expect(again.blows).toEqual(first.blows);
      expect(again.tools).toEqual(first.tools);
      expect(again.asked.map(({ told }) => told)).toEqual(first.asked.map(({ told }) => told));
    }
  });

  test("can be played again and again by one runner", { timeout: 60_000 }, async () => {
    const runner = new Runner();
    const first = await runner.run(3);
    expect(await runner.run(3)).toEqual(first);
    expect((await runner.run(3, { ops: [1], faults: [0] })).violations).toEqual([]);
  });

  test("keeps all its other choices when one is left out", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const whole = planOf(seed);
      const less = planOf(seed, { ops: [1], faults: [0] });
      expect(less.config).toEqual(whole.config);
      expect(less.ops).toEqual(whole.ops.filter(({ index }) => index !== 1));
      expect(less.faults).toEqual(whole.faults.filter(({ index }) => index !== 0));
    }
  });
});

describe("the checker sees", () => {
  const doctored = async (seed: number, doctor: (seen: Observation) => void) => {
    const seen = await play(seed);
    expect(lawsOf(seen, seed)).toEqual(new Set());
    doctor(seen);
    return lawsOf(seen, seed);
  };

  test("a hole in the log", async () => {
    const laws = await doctored(1, (seen) => {
      seen.log.splice(2, 1);
    });
    expect(laws).toContain("X3");
  });

  test("an acknowledged command that is not in the log", async () => {
    const laws = await doctored(1, ({ asked }) => {
      const start = asked.find(
        ({ command, told }) => command.type === "start_run" && told.some(({ outcome }) => outcome.kind === "ok"),
      );
      if (start?.command.type === "start_run") Object.assign(start.command.body, { input: { text: "never said" } });
    });
    expect(laws).toContain("X1");
  });

  test("a frame that is not what the log has", async () => {
    const laws = await doctored(1, ({ connections }) => {
      for (const { frames } of connections) {
        const at = frames.findIndex(({ frame }) => frame.type === "event");
        const one = frames[at];
        if (one) frames[at] = { ...one, text: one.text.replace('"v":1', '"v":2') };
      }
    });
    expect(laws).toContain("X4");
  });

  test("a request to the model that was not durable when it left", async () => {
    const laws = await doctored(1, ({ models }) => {
      const [first] = models;
      if (first) models[0] = { ...first, head: 1 };
    });
    expect(laws).toContain("X7");
  });

  test("a history that lacks the end", async () => {
    const laws = await doctored(1, (seen) => {
      seen.historySeq -= 1;
    });
    expect(laws).toContain("X18");
  });

  test("a row of the history that is not the log's", async () => {
    const laws = await doctored(3, ({ rows }) => {
      for (const row of rows["runs"] ?? []) row["status"] = "running";
    });
    expect(laws).toContain("X18");
  });
});

describe("the small scope", () => {
  test("has every order, and every place to die of each", { timeout: 60_000 }, async () => {
    const all = interleavings();
    expect(new Set(all.map(({ order }) => order.join())).size).toBe(8);
    const [first] = all;
    if (!first) throw new Error("there is none");
    const databases = shared();
    const { positions, violations } = await playSmall(1, "whole", first, [], databases);
    expect(violations).toEqual([]);
    const places = deaths(positions);
    expect(places.length).toBeGreaterThan(100);
    for (const [at, death] of places.filter((_, n) => n % 9 === 0).entries()) {
      const played = await playSmall(1, `dying-${at}`, first, [death], databases);
      expect({ death, violations: played.violations }).toEqual({ death, violations: [] });
    }
  });
});

describe("a planted bug", () => {
  const source = (file: string) => readFileSync(join(import.meta.dirname, "../../src", file), "utf8");

  test.each(BUGS)("fits the sources: $name", ({ changes }) => {
    for (const { file, find } of changes) expect(source(file).split(find)).toHaveLength(2);
  });

  test("is one of at least 25, each with its own name", () => {
    expect(new Set(BUGS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(25);
  });
});
