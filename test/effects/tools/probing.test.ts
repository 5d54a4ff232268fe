import { expect, test } from "vitest";
import { ok, refused } from "../../../src/tools/outcome.ts";
import { callOf, house } from "./house.ts";
import { tool, type Definition } from "./acting.ts";

const probeable = (probe: unknown) =>
  tool(async () => ok("executed"), { effect: "probeable", probe } as unknown as Partial<Definition>);

test("a probe asks by key, and says what became of it: found, failed, absent, or nothing", async () => {
  const keys: string[] = [];
  const asked: string[] = [];
  const cases: [unknown, object][] = [
    [
      async (key: string) => {
        keys.push(key);
        return { found: true, outcome: ok({ id: 1 }) };
      },
      { kind: "ok", payload: { source: "probe", data: { id: 1 } } },
    ],
    [async () => ({ found: true, outcome: refused("no", "No.") }), { kind: "failed", proof: "definitive" }],
    [async () => ({ found: false }), { kind: "absent" }],
    [async () => ({ found: "perhaps" }), { kind: "ambiguous", repeatable: false }],
    [async () => null, { kind: "ambiguous", repeatable: false }],
    [async () => Promise.reject(new Error("down")), { kind: "ambiguous", repeatable: true }],
  ];
  for (const [probe, expected] of cases) {
    const at = await house([probeable(probe)]);
    const call = callOf(await at.ready("act", {}));
    expect((await at.execute(call, { mode: "probe" })).result).toMatchObject(expected);
    asked.push(call.idempotencyKey);
  }
  expect(keys).toEqual(asked.slice(0, 1));
});

test("a probe works although the tool has changed since; without the tool nobody is left to ask", async () => {
  const at = await house([probeable(async () => ({ found: true, outcome: ok(1) }))]);
  const call = callOf(await at.ready("act", {}));
  expect((await at.execute({ ...call, toolDigest: "older" }, { mode: "probe" })).result).toMatchObject({ kind: "ok" });
  expect((await at.execute({ ...call, tool: "gone" }, { mode: "probe" })).result).toMatchObject({
    kind: "ambiguous",
    repeatable: false,
  });
});
