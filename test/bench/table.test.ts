import { expect, test } from "vitest";
import type { Peer } from "../../bench/load/peer.ts";
import { Side } from "../../bench/measure/side.ts";
import { rowsOf, tableOf } from "../../bench/table.ts";

const peer = (name: string): Peer => ({
  name,
  start: async () => undefined,
  stop: async () => undefined,
  restart: async () => undefined,
  pid: () => 0,
  seed: async () => undefined,
  connect: () => Promise.reject(new Error("not in this test")),
});

function sides(samples: Readonly<Record<string, { ours?: number[]; floor?: number[] }>>): Side[] {
  const made = [new Side(peer("floor")), new Side(peer("ours"))];
  for (const [metric, of] of Object.entries(samples)) {
    for (const side of made) {
      for (const value of of[side.peer.name === "ours" ? "ours" : "floor"] ?? []) side.add(metric, value);
    }
  }
  return made;
}

test("a ratio is of medians, and over its budget it is a miss", () => {
  const measured = sides({ "W1 ack": { ours: [1_000, 2_200, 90_000], floor: [500, 1_000, 80_000] } });
  const [row] = rowsOf(measured, 1);
  expect(row).toMatchObject({ workload: "W1", ours: 2.2, floor: 1, ratio: 2.2, budget: 2, missed: true });
  expect(rowsOf(measured, 2)).toMatchObject([{ budget: 4, missed: false }]);
});

test("a bound of our own figure has no slack, and nothing to compare with", () => {
  const dropped = sides({ "W4 dropped": { ours: [1], floor: [0] } });
  expect(rowsOf(dropped, 2)).toMatchObject([{ ours: 1, floor: null, ratio: null, budget: 0, missed: true }]);
});

test("a growth is ours against ours", () => {
  const grown = sides({ "list many": { ours: [3_000] }, "list few": { ours: [1_000], floor: [1] } });
  expect(rowsOf(grown, 1)).toMatchObject([{ floor: 1, ratio: 3, missed: true }]);
});

test("what was not measured has no row", () => {
  expect(rowsOf(sides({}), 1)).toEqual([]);
});

test("people see what is over", () => {
  const table = tableOf(rowsOf(sides({ "W1 ack": { ours: [3_000], floor: [1_000] } }), 1));
  expect(table).toMatch(/3\.00 × +≤ 2 × +over$/);
});
