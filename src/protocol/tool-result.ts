/** The one value that a tool's outcome becomes: log, REST, WebSocket, SSE, D1 and AG-UI carry it unchanged. */
import * as z from "zod";
import { ToolCallId } from "./ids.ts";

/** Our own codes; a gateway's codes are passed on verbatim. */
export const TOOL_ERROR_CODES = [
  "invalid_arguments",
  "unknown_tool",
  "scope_missing",
  "credential_expired",
  "timeout",
  "output_invalid",
  "outcome_unknown",
  "rejected",
  "expired",
  "cancelled",
  "changed_since_shown",
  "preview_failed",
  "tool_contract_violated",
  "output_truncated",
  "tool_failed",
  "tool_circuit_open",
] as const;
export type OwnToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

export const ToolError = z.object({
  layer: z.enum(["transport", "gateway", "tool", "runtime"]),
  code: z.string().min(1).max(64),
  message: z.string().max(2_048),
  retryable: z.boolean(),
  http: z.object({ status: z.int(), body: z.string().optional() }).optional(),
});
export type ToolError = z.infer<typeof ToolError>;

export const ToolResult = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal("tool_execution_result"),
  toolCallId: ToolCallId,
  tool: z.string(),
  success: z.boolean(),
  displayText: z.string(),
  displayLang: z.string(),
  data: z.unknown().optional(),
  error: ToolError.optional(),
  /** Present when `data` is an excerpt: the whole stands in the payload of this digest. */
  excerptOf: z.object({ digest: z.string(), bytes: z.int() }).optional(),
  /** "person" when somebody said that it happened and what came of it. */
  source: z.enum(["tool", "probe", "person"]).optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;
