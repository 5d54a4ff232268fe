/** A tool that acts as a test says, executed in a house of its own; what is answered is always a valid result. */
import * as z from "zod";
import { expect } from "vitest";
import { ToolResult } from "../../../src/protocol/tool-result.ts";
import { defineTool, type ToolDefinition } from "../../../src/tools/define-tool.ts";
import { callOf, house } from "./house.ts";

const input = z.object({ n: z.int().optional() });
export type Definition = ToolDefinition<typeof input, z.ZodType, unknown>;
export type Execute = Definition["execute"];

export const tool = (execute: Execute, more: Partial<Definition> = {}) =>
  defineTool({
    name: "act",
    title: { en: "Act", zh: "行动" },
    description: "Acts.",
    input,
    output: z.unknown(),
    scope: "acts",
    confirm: "never",
    authorize: () => ({ ok: true }),
    execute,
    ...more,
  } as Definition);
export const read = (execute: Execute) => tool(execute, { effect: "read" } as Partial<Definition>);

/** Prepared by the house's own hand, then executed. */
export async function run(
  execute: Execute,
  more: Partial<Definition> = {},
  io: Parameters<Awaited<ReturnType<typeof house>>["execute"]>[1] = {},
) {
  const at = await house([tool(execute, more)]);
  const call = callOf(await at.ready("act", {}));
  const answer = await at.execute(call, io);
  const payload = answer.result.kind === "absent" ? null : answer.result.payload;
  expect(ToolResult.parse(payload)).toEqual(payload);
  return { ...answer, logged: at.logged, call };
}
