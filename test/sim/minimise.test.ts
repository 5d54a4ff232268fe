import { expect, test } from "vitest";
import { minimise, type Player } from "../../sim/minimise.ts";
import { planOf, type Without } from "../../sim/plan.ts";

/** A seed with enough in it to leave out. */
const SEED =
  Array.from({ length: 200 }, (_, n) => n).find((n) => planOf(n).ops.length > 8 && planOf(n).faults.length > 2) ?? 0;

/** Breaks X6 when all of these are played, and X1 when one command is left out. */
function player(needs: { ops: readonly number[]; faults: readonly number[]; calls: readonly string[] }) {
  const tried: Without[] = [];
  const run: Player["run"] = async (_seed, without) => {
    tried.push(without);
    const missing =
      needs.ops.some((one) => without.ops?.includes(one)) ||
      needs.faults.some((one) => without.faults?.includes(one)) ||
      needs.calls.some((one) => without.reactions?.includes(one));
    return { violations: [{ law: missing ? "X1" : "X6", says: "" }], calls: ["t1", "t2", "t3"] };
  };
  return { tried, run };
}

test("leaves out everything without which the same law is still broken", async () => {
  const { ops, faults } = planOf(SEED);
  const [op, fault] = [ops.at(-2)?.index ?? 0, faults[1]?.index ?? 0];
  const { run, tried } = player({ ops: [op], faults: [fault], calls: ["t2"] });
  const without = await minimise({ run }, SEED, "X6");
  expect(without.ops?.toSorted()).toEqual(
    ops
      .map(({ index }) => index)
      .filter((one) => one !== op)
      .toSorted(),
  );
  expect(without.faults?.toSorted()).toEqual(
    faults
      .map(({ index }) => index)
      .filter((one) => one !== fault)
      .toSorted(),
  );
  expect(without.reactions).toEqual(["t1", "t3"]);
  expect(tried.length).toBeLessThan(80);
});

test("keeps a schedule whole of which every part is needed", async () => {
  const { ops, faults } = planOf(SEED);
  const needs = {
    ops: ops.map(({ index }) => index),
    faults: faults.map(({ index }) => index),
    calls: ["t1", "t2", "t3"],
  };
  expect(await minimise(player(needs), SEED, "X6")).toEqual({ ops: [], faults: [], reactions: [] });
});
