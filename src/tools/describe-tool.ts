/**
 * A tool as the API and the model are shown it. JSON Schema is worked out once per tool: tools are constants, and the
 * list is needed for every model request.
 */
import * as z from "zod";
import type { ToolDescription } from "../protocol/agent.ts";
import type { Lang } from "../protocol/texts.ts";
import type { Tool } from "./define-tool.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;
export interface ToolSchemas {
  readonly input: JsonSchema;
  readonly output: JsonSchema;
}

const known = new WeakMap<object, ToolSchemas>();

/** Of what the tool takes and gives; members that JSON Schema cannot say (a refinement, a transform) are left open. */
export function schemasOf(tool: Tool<never>): ToolSchemas {
  const before = known.get(tool);
  if (before) return before;
  const schemas = { input: schemaOf(tool.input, "input"), output: schemaOf(tool.output, "output") };
  known.set(tool, schemas);
  return schemas;
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

export const effectOf = (tool: Tool<never>): ToolDescription["effect"] => tool.effect ?? "once";

/** What policy says of a call whose arguments are not known yet. */
export function confirmOf(tool: Tool<never>): ToolDescription["confirm"] {
  if (typeof tool.confirm === "function") return "depends";
  return tool.confirm ?? (tool.effect === "read" ? "never" : "always");
}

export function describeTool(tool: Tool<never>, lang: Lang): ToolDescription {
  const { input, output } = schemasOf(tool);
  return {
    name: tool.name,
    title: tool.title[lang],
    description: tool.description,
    inputSchema: input,
    outputSchema: output,
    effect: effectOf(tool),
    ...(tool.scope === undefined ? {} : { scope: tool.scope }),
    confirm: confirmOf(tool),
    ...(tool.quorum === undefined ? {} : { quorum: tool.quorum }),
    ...(tool.selfApproval === undefined ? {} : { selfApproval: tool.selfApproval }),
    ...(tool.approvers === undefined ? {} : { approvers: [...tool.approvers] }),
  };
}
