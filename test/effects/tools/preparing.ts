/** A tool as a test wants it shown and asked about, what the model writes for it, and why it was refused. */
import * as z from "zod";
import { expect } from "vitest";
import { ToolResult } from "../../../src/protocol/tool-result.ts";
import type { PreparedCall } from "../../../src/run/inputs.ts";
import { defineTool, type ToolDefinition } from "../../../src/tools/define-tool.ts";
import { ok } from "../../../src/tools/outcome.ts";

const input = z.object({ title: z.string().trim().min(1).max(40), n: z.int().optional() });
export type Definition = ToolDefinition<typeof input, z.ZodUnknown, unknown>;

export const tool = (more: Partial<Definition> = {}) =>
  defineTool<typeof input, z.ZodUnknown, unknown>({
    name: "act",
    title: { en: "Act", zh: "行动" },
    description: "Acts.",
    input,
    output: z.unknown(),
    scope: "acts",
    authorize: () => ({ ok: true }),
    execute: () => Promise.resolve(ok(null)),
    ...more,
  } as Definition);

export const errorOf = (call: PreparedCall | undefined) => {
  if (call?.kind !== "refused") throw new Error(`not refused: ${JSON.stringify(call)}`);
  expect(ToolResult.parse({ ...call.payload })).toEqual(call.payload);
  return call.payload.error;
};
export const act = (args: unknown) => ({
  name: "act",
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});
