import { describe, expect, test } from "vitest";
import { Alarms, type Thresholds } from "../../src/history/alarms.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readUsage } from "../../src/history/read-usage.ts";
import { watchedDrain } from "../../src/history/watched-drain.ts";
import { encodeEvent } from "../../src/protocol/encoded-event.ts";
import { stopOf, type StopCode } from "../../src/protocol/stops.ts";
import { UsageReport } from "../../src/protocol/usage.ts";
import type { ModelResult } from "../../src/run/inputs.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { person, Script, START, transfer } from "./script.ts";
import { bring, history } from "./support.ts";

const HOUR = 3_600_000;
const DAY = { from: START - HOUR, to: START + 24 * HOUR };
const usage = (inputTokens: number, costMicroUsd: number | null, estimated = false) => ({
  inputTokens,
  outputTokens: 10,
  costMicroUsd,
  estimated,
  model: "m",
});
const timing = (ms: number, firstByteMs: number | null = 5, requestBytes = 1_000) => ({
  ms,
  firstByteMs,
  requestBytes,
});

const final = (of: ReturnType<typeof usage>, time = timing(100)): ModelResult => ({
  kind: "answered",
  verdict: "final",
  text: { text: "done" },
  finishReason: "stop",
  calls: [],
  usage: of,
  timing: time,
  request: { digest: "d", model: "m", parameters: {} },
});
const failed = (code: StopCode): ModelResult => ({
  kind: "failed",
  stop: stopOf(code, "No."),
  text: { text: "" },
  finishReason: null,
  usage: usage(0, 0),
});
const read = () => historyFor(db, "acme");
let db: D1OnNodeSqlite;

let n = 0;
/** One conversation of an agent, whose runs end as told. */
async function talk(agent: string, play: (script: Script) => void, at = START, tenantId = "acme"): Promise<Script> {
  const script = new Script({ n: ++n, agent, at, owner: person("ann", { tenantId }) });
  play(script);
  await bring(db, script);
  return script;
}

describe("what a tenant's runs have taken", () => {
  test("is told by agent: ends, rounds, tokens, cost, spreads, trips and errors", async () => {
    db = history();
    await talk("lab", (s) => {
      for (const ms of [100, 200, 900]) s.say("hi").model(final(usage(100, 7), timing(ms, ms / 10, ms * 10)));
      s.say("more").model(failed("model_rate_limited"));
      s.say("unpriced").model(final(usage(50, null, true)));
    });
    await talk("lab", (s) => {
      s.say("do");
      for (const call of [1, 2]) {
        s.plan([transfer(call, { effect: "read", gate: null, fingerprint: "same" })]);
        const error = { layer: "gateway", code: "GATEWAY_UNAUTHORIZED", message: "No.", retryable: false } as const;
        const { data: _, ...payload } = s.payload(call);
        s.tool(call, { kind: "failed", proof: "definitive", payload: { ...payload, success: false, error } });
      }
    });
    await talk("planner", (s) => s.say("hi").model(final(usage(1, 1))));
    await talk("planner", (s) => s.say("hi").cancel());
    await talk("lab", (s) => s.say("hi").model(final(usage(1_000_000, 9))), START, "other");
    const report = await readUsage(read(), DAY);
    expect(UsageReport.parse(report)).toEqual(report);
    expect(report.agents.map(({ agent }) => agent)).toEqual(["lab", "planner"]);
    expect(report.agents[0]).toMatchObject({
      runs: { completed: 4, failed: 2, cancelled: 0 },
      rounds: 7,
      // 3 · 100 + 50, and the two steps of the run that tripped.
      inputTokens: 370,
      costMicroUsd: 3 * 7 + 2 * 7,
      unpricedRuns: 1,
      estimatedRuns: 1,
      requestBytes: 9_000,
      stops: { final_answer: 4, model_rate_limited: 1, tool_circuit_open: 1 },
      trips: { tool_circuit_open: 1 },
      toolErrors: [{ tool: "transfer", code: "GATEWAY_UNAUTHORIZED", count: 2 }],
      firstByteMs: { p50: 10, p95: 90, max: 90 },
      modelMs: { p50: 100, p95: 900, max: 900 },
    });
    expect(report.agents[1]).toMatchObject({ runs: { completed: 1, failed: 0, cancelled: 0 } });
  });

  test("is of the range and the agent that were asked for", async () => {
    db = history();
    await talk("lab", (s) => s.say("hi").model(final(usage(1, 1))));
    await talk("lab", (s) => s.say("hi").model(final(usage(10, 1))), START + 2 * HOUR);
    await talk("planner", (s) => s.say("hi").model(final(usage(100, 1))), START + 2 * HOUR);
    const later = await readUsage(read(), { from: START + HOUR, to: START + 3 * HOUR, agent: "lab" });
    expect(later.agents).toMatchObject([{ agent: "lab", inputTokens: 10 }]);
    expect((await readUsage(read(), { from: START + 5 * HOUR, to: START + 6 * HOUR })).agents).toEqual([]);
  });

  test("counts the time in the queue, and a call that nobody knows of", async () => {
    db = history();
    await talk("lab", (s) => {
      s.say("first").say("second");
      s.model(final(usage(1, 1))).model(final(usage(1, 1)));
      s.say("act").plan([transfer(1, { gate: null })]);
      s.feed({ type: "woke" });
    });
    const [lab] = (await readUsage(read(), DAY)).agents;
    // The script's clock goes on by a second with each input.
    expect(lab?.queueWaitMs).toEqual({ p50: 0, p95: 1_000, max: 1_000 });
    expect(lab?.toolErrors).toEqual([{ tool: "transfer", code: "outcome_unknown", count: 1 }]);
  });
});

describe("thresholds", () => {
  const NOW = START + 1_800_000;
  function alarms(thresholds: Thresholds, clock = { now: NOW }) {
    const logged: unknown[] = [];
    const log = {
      info: () => undefined,
      warn: (event: string, fields?: object) => void logged.push({ event, ...fields }),
      error: () => undefined,
    };
    return { logged, clock, alarms: new Alarms({ db, log, now: () => clock.now, thresholds }) };
  }
  const trouble = (times: number, at = START) =>
    talk("lab", (s) => Array.from({ length: times }, () => s.say("hi").model(failed("model_timeout"))), at);

  test("that are crossed leave a row and a line, once an hour", async () => {
    db = history();
    await trouble(3);
    const at = alarms({ timeouts: 2, modelErrors: 3, lagMs: 500 });
    await at.alarms.look("acme", 700);
    expect(at.logged).toEqual([
      { event: "alarm", tenantId: "acme", kind: "timeouts", figure: 3, bound: 2 },
      { event: "alarm", tenantId: "acme", kind: "lagMs", figure: 700, bound: 500 },
    ]);
    at.clock.now += 120_000;
    await at.alarms.look("acme", 100);
    expect(at.logged).toHaveLength(2);
    const report = await readUsage(read(), DAY);
    expect(report.crossings).toMatchObject([
      { name: "lagMs", value: 700, threshold: 500 },
      { name: "timeouts", value: 3, threshold: 2 },
    ]);
    expect(report.lagMs).toBe(700);
    expect((await readUsage(historyFor(db, "other"), DAY)).crossings).toEqual([]);
  });

  test("are looked at once a minute; the worst lag of the meantime is kept", async () => {
    db = history();
    const at = alarms({ lagMs: 500 });
    await at.alarms.look("acme", 1);
    await trouble(1);
    const before = db.batches.length;
    await at.alarms.look("acme", 900);
    expect(at.logged).toEqual([]);
    expect(db.batches.length).toBe(before);
    at.clock.now += 60_000;
    await at.alarms.look("acme", 10);
    expect(at.logged).toMatchObject([{ kind: "lagMs", figure: 900 }]);
  });

  test("may be so many times the mean hour of the day before, and at least so much", async () => {
    db = history();
    for (const hour of [2, 3, 4, 5]) await trouble(12, START - hour * HOUR);
    await trouble(5);
    // 48 in 24 hours are two an hour.
    const twice = alarms({ timeouts: { times: 2, least: 1 } });
    await twice.alarms.look("acme", 0);
    expect(twice.logged).toMatchObject([{ kind: "timeouts", figure: 5, bound: 4 }]);
    const many = alarms({ modelErrors: { times: 2, least: 10 } });
    await many.alarms.look("acme", 0);
    expect(many.logged).toEqual([]);
  });

  test("that cannot be looked at are said so, and fail nothing", async () => {
    db = history();
    db.sqlite.exec("DROP TABLE figures");
    const at = alarms({ timeouts: 1 });
    await at.alarms.look("acme", 1);
    expect(at.logged).toMatchObject([{ event: "alarms_not_looked_at", tenantId: "acme" }]);
  });
});

describe("a drain", () => {
  async function lagOf(script: Script, again: number | null): Promise<unknown[]> {
    const told: unknown[] = [];
    const journal = { identity: () => script.state.identity, unprojected: () => script.events.map(encodeEvent) };
    const inner = { drain: async () => again };
    const drain = watchedDrain(inner, { journal, now: () => START + 60_000, drained: (...of) => void told.push(of) });
    expect(await drain.drain()).toBe(again);
    return told;
  }

  test("tells how long lists had to wait for its oldest event", async () => {
    expect(await lagOf(new Script({ n: 900 }), null)).toEqual([["acme", 60_000]]);
  });

  test("tells nothing when it did not get through", async () => {
    expect(await lagOf(new Script({ n: 901 }), START + 70_000)).toEqual([]);
  });
});
