import { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { describe, expect, test } from "vitest";
import { ToolCircuits } from "../../../src/effects/tool-circuits.ts";
import { migrateActor } from "../../../src/sql/actor-migrations.ts";
import { Circuits } from "../../../src/tenant/circuits.ts";
import { LEDGER_MIGRATIONS } from "../../../src/tenant/ledger-migrations.ts";
import { defineTool, type Execution } from "../../../src/tools/define-tool.ts";
import { AmbiguousOutcome, notSent, ok, refused, type ToolOutcome } from "../../../src/tools/outcome.ts";
import { nodeSql } from "../../support/node-sql.ts";
import { callOf, house } from "./house.ts";

type Act = () => Promise<ToolOutcome<unknown>>;
const works: Act = async () => ok(null);
const down: Act = async () => {
  throw new AmbiguousOutcome({ code: "GATEWAY_UNAVAILABLE", message: "Down.", retryable: true, layer: "gateway" });
};
const refuses: Act = async () => refused("not_found", "No.");
const unreachable: Act = async () => notSent("DNS", "No host.", { retryable: true, layer: "transport" });
const picky: Act = async () => notSent("quota", "Not today.");

const RULES = { failures: 3, openMs: 10_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A tool that does what it is told, gated or not, with the breakers of one isolate over the tenant's ledger. */
async function played(gated = false) {
  let act = works;
  let now = 1_000_000;
  const circuits = new Circuits(
    (() => {
      const sql = nodeSql(new DatabaseSync(":memory:"));
      migrateActor(sql, LEDGER_MIGRATIONS, now);
      return sql;
    })(),
  );
  const reports: string[] = [];
  const warned: unknown[] = [];
  const isolate = () =>
    new ToolCircuits({
      clock: { now: () => now, after: () => () => undefined },
      log: {
        info: () => undefined,
        warn: (event, fields) => void warned.push({ event, ...fields }),
        error: () => undefined,
      },
      rules: RULES,
      ledger: async () => ({
        toolFailed: async (tenantId, tool, rules) => (
          reports.push("failed"),
          circuits.failed(tenantId, tool, rules, now)
        ),
        toolWorked: async (tenantId, tool) => (reports.push("worked"), circuits.worked(tenantId, tool)),
      }),
    });
  const look = defineTool({
    name: "look",
    title: { en: "Look", zh: "看" },
    description: "Looks.",
    effect: "read",
    input: z.object({}),
    output: z.unknown(),
    confirm: gated ? "always" : "never",
    execute: (_args: unknown, _call: Execution<unknown>) => act(),
  });
  const at = await house([look], { circuits: isolate() });
  const call = callOf(await at.ready("look", {}));
  return {
    reports,
    warned,
    later: (ms: number) => (now += ms),
    otherIsolate: isolate,
    /** @returns the code of the failure, or "ok" */
    async does(next: Act): Promise<string> {
      act = next;
      const { result } = await at.execute(call);
      await settled();
      return result.kind === "ok" || result.kind === "absent" ? "ok" : (result.payload.error?.code ?? "none");
    },
  };
}

describe("a tool that is down for everybody", () => {
  test("is not called any more after so many failures in a row, until some time has passed", async () => {
    const tool = await played();
    for (let n = 0; n < 3; n++) expect(await tool.does(down)).toBe("GATEWAY_UNAVAILABLE");
    expect(await tool.does(works)).toBe("tool_circuit_open");
    expect(tool.warned).toEqual([{ event: "tool_circuit_opened", tenantId: "t1", tool: "look", figure: 3, bound: 3 }]);
    tool.later(10_000);
    expect(await tool.does(works)).toBe("ok");
    expect(await tool.does(down)).toBe("GATEWAY_UNAVAILABLE");
    expect(await tool.does(works)).toBe("ok");
  });

  test("is tried once when the time is over, and opened again by one failure", async () => {
    const tool = await played();
    for (let n = 0; n < 3; n++) await tool.does(unreachable);
    tool.later(10_000);
    expect(await tool.does(down)).toBe("GATEWAY_UNAVAILABLE");
    expect(await tool.does(works)).toBe("tool_circuit_open");
  });

  test("is found to be so by another isolate with its first failure", async () => {
    const tool = await played();
    for (let n = 0; n < 3; n++) await tool.does(down);
    const other = tool.otherIsolate();
    expect(other.isOpen("t1", "look")).toBe(false);
    other.report("t1", "look", { kind: "ambiguous", reason: "timeout" } as Parameters<typeof other.report>[2]);
    await settled();
    expect(other.isOpen("t1", "look")).toBe(true);
    expect(other.isOpen("t2", "look")).toBe(false);
    expect(other.isOpen("t1", "other")).toBe(false);
  });

  test("is called all the same where a person has approved the call", async () => {
    const tool = await played(true);
    for (let n = 0; n < 4; n++) expect(await tool.does(down)).toBe("GATEWAY_UNAVAILABLE");
    expect(await tool.does(works)).toBe("ok");
  });
});

describe("a tool that works", () => {
  test("is not cut for what it refuses, for failures with a success in between, or for what it will not do", async () => {
    const tool = await played();
    for (let n = 0; n < 5; n++) expect(await tool.does(refuses)).toBe("not_found");
    for (let n = 0; n < 5; n++) expect(await tool.does(picky)).toBe("quota");
    for (let n = 0; n < 5; n++) {
      await tool.does(down);
      await tool.does(down);
      expect(await tool.does(works)).toBe("ok");
    }
  });

  test("costs the tenant's ledger no message", async () => {
    const tool = await played();
    for (let n = 0; n < 5; n++) await tool.does(works);
    expect(tool.reports).toEqual([]);
    await tool.does(down);
    await tool.does(works);
    await tool.does(works);
    expect(tool.reports).toEqual(["failed", "worked"]);
  });
});
