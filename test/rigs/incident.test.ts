/**
 * The incident of the 32 steps: stopped where it must be in each variant, and docs/incident.md tells what is played. The
 * picture stands in as text; that it goes along as an attachment is not played here.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { page, settled } from "../../rigs/incident/page.ts";
import { playPairs, type Pair } from "../../rigs/incident/pairs.ts";
import { play } from "../../rigs/incident/play.ts";

let pairs: readonly Pair[] = [];
beforeAll(async () => {
  pairs = await playPairs(1, play);
}, 120_000);

const of = (variant: Pair["variant"]) => pairs.find((pair) => pair.variant === variant);
const WELL = { handover: "requested", next: "final_answer", violations: 0, stop: "tool_circuit_open" };

test.each([
  ["declared", { requests: 2, noticed: { step: 1, tool: "ocr", code: "output_invalid" } }, "same_call"],
  ["string", { requests: 3, noticed: { step: 2, tool: "format", code: "damaged_text" } }, "same_call"],
  ["ping-pong", { requests: 4, noticed: { step: 2, tool: "format", code: "damaged_text" } }, "ping_pong"],
] as const)("%s: stopped at the second failure, and a person is called", (variant, on, pattern) => {
  expect(of(variant)?.on).toMatchObject({ ...WELL, ...on, trip: { limit: "maxSameFailure", figure: 2, pattern } });
  expect(of(variant)?.on.notice?.zh).toBe("某个工具反复失败（2 次），我已停止。");
});

test.each(["declared", "string", "ping-pong"] as const)("%s: without breakers it goes on to the end", (variant) => {
  expect(of(variant)?.off).toMatchObject({ requests: 32, trip: null, violations: 0, next: "final_answer" });
});

test("docs/incident.md tells what was played; else: npm run incident", async () => {
  const file = await readFile(join(import.meta.dirname, "../../docs/incident.md"), "utf8");
  expect(settled(page(pairs))).toBe(settled(file));
});
