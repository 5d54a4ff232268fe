/** Right before it is sent: whoever started the run, and whoever agreed, must still count. */
import * as z from "zod";
import { describe, expect, test } from "vitest";
import { GOOD_STANDING, type Standing } from "../../../src/protocol/standing.ts";
import type { DecisionRecord } from "../../../src/protocol/tool-call.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { ok } from "../../../src/tools/outcome.ts";
import { callOf, house, principal, runOf } from "./house.ts";

const OUT: Standing = { validFrom: 500, deactivated: true, paused: false };
/** A day after the yes of these tests. */
const SINCE: Standing = { ...OUT, validFrom: Date.parse("2026-11-30T12:00:00Z") / 1_000, deactivated: false };
const ANEW: Standing = { validFrom: 500, deactivated: false, paused: false };

async function execution(
  standings: Readonly<Record<string, Standing | Error>>,
  decisions: Partial<DecisionRecord>[] = [],
) {
  let sent = 0;
  const act = defineTool({
    name: "act",
    title: { en: "Act", zh: "行动" },
    description: "Acts.",
    input: z.object({}),
    output: z.unknown(),
    scope: "acts",
    authorize: () => ({ ok: true }),
    execute: async () => {
      sent += 1;
      return ok({});
    },
  });
  const asked: string[] = [];
  const at = await house([act], {
    standingOf: async (tenantId, userId) => {
      asked.push(`${tenantId}/${userId}`);
      const standing = standings[userId] ?? GOOD_STANDING;
      if (standing instanceof Error) throw standing;
      return standing;
    },
  });
  const ready = await at.ready("act", {});
  const given = decisions.map(
    (one) =>
      ({
        by: { kind: "user", id: "bob" },
        decision: "approve",
        at: "2026-11-29T12:00:00.000Z",
        argsDigest: ready.argsDigest,
        ...one,
      }) as DecisionRecord,
  );
  const run = runOf({ principal: principal({ tokenEpoch: 100 }) });
  const { result } = await at.execute(callOf(ready, { decisions: given }), { run });
  const code = result.kind === "failed" ? `${result.proof} ${result.payload.error?.code}` : result.kind;
  return { code, sent, asked };
}

describe("a call", () => {
  test("is sent while everybody counts, each of whom is asked about once", async () => {
    const { code, sent, asked } = await execution({}, [{}, {}, { by: { kind: "user", id: "carol" } }]);
    expect([code, sent]).toEqual(["ok", 1]);
    expect(asked).toEqual(["t1/user-a", "t1/bob", "t1/carol"]);
  });

  test("is sent where somebody agreed after coming back", async () => {
    const since = { ...SINCE, validFrom: Date.parse("2026-11-29T12:00:00Z") / 1_000 };
    expect(await execution({ bob: since }, [{}])).toMatchObject({ code: "ok", sent: 1 });
  });

  test.each([
    ["its starter is deactivated", { "user-a": OUT }, []],
    ["its starter's sign-in is from before the epoch", { "user-a": ANEW }, []],
    ["somebody who agreed is deactivated", { bob: OUT }, [{}]],
    ["somebody who agreed was deactivated since, and is back", { bob: SINCE }, [{}]],
  ])("is not sent where %s", async (_, standings, decisions) => {
    expect(await execution(standings, decisions)).toMatchObject({ code: "not_sent scope_missing", sent: 0 });
  });

  test("is not sent where nobody can tell, and may be tried again", async () => {
    const { code, sent } = await execution({ "user-a": new Error("away") });
    expect([code, sent]).toEqual(["not_sent tool_failed", 0]);
  });

  test("does not rest on who said no, who agreed to something else, or whose yes is void", async () => {
    const { code, asked } = await execution({ bob: OUT }, [
      { decision: "reject" },
      { argsDigest: "x".repeat(43) },
      { voided: true },
    ]);
    expect([code, asked]).toEqual(["ok", ["t1/user-a"]]);
  });

  test("rests on an approver's being there, not on the token they agreed with", async () => {
    expect(await execution({ bob: ANEW }, [{}])).toMatchObject({ code: "ok" });
  });
});
