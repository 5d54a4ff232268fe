/** A call as people see it, from its row: the same shape as the core's `callView`. */
import { runIdOf, toolCallIdOf } from "../protocol/ids.ts";
import type {
  CallStateName,
  DecisionRecord,
  EffectClass,
  Preview,
  Resolution,
  SideEffect,
  ToolCall,
} from "../protocol/tool-call.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import { flagIn, jsonIn, jsonOrNull, numberIn, numberOrNull, optional, textIn, textOrNull, type Row } from "./row.ts";
import { isoOf } from "../protocol/time.ts";

/** Of the table t. */
export const CALL_COLUMNS = `t.conversation_id, t.run_n, t.call_n, t.tool, t.title, t.effect, t.state, t.attempt,
  t.args_json, t.args_digest, t.preview_json, t.reversible, t.undo, t.decisions_json, t.resolution_json, t.result_json,
  t.expires_at`;

const stateOf = (row: Row): CallStateName => textIn(row, "state") as CallStateName;
const isUnresolved = (row: Row): boolean => stateOf(row) === "unknown" && textOrNull(row, "resolution_json") === null;

export const isPending = (row: Row): boolean => stateOf(row) === "awaiting_confirmation" || isUnresolved(row);

export const hasActed = (row: Row): boolean =>
  textOrNull(row, "effect") !== "read" &&
  numberIn(row, "attempt") > 0 &&
  ["succeeded", "unknown", "executing"].includes(stateOf(row));

const idOf = (row: Row): string =>
  toolCallIdOf(runIdOf(textIn(row, "conversation_id"), numberIn(row, "run_n")), numberIn(row, "call_n"));

/** Only of calls that were proposed: a refused one has neither title nor digest. */
export function callOf(row: Row): ToolCall {
  const state = stateOf(row);
  const expiresAt = numberOrNull(row, "expires_at");
  return {
    id: idOf(row),
    runId: runIdOf(textIn(row, "conversation_id"), numberIn(row, "run_n")),
    tool: textIn(row, "tool"),
    title: textIn(row, "title"),
    argsDigest: textIn(row, "args_digest"),
    effect: textIn(row, "effect") as EffectClass,
    state,
    attempt: numberIn(row, "attempt"),
    ...optional("expiresAt", expiresAt === null ? null : isoOf(expiresAt)),
    allowed: state === "awaiting_confirmation" ? ["approve", "edit", "reject"] : [],
    args: jsonIn<unknown>(row, "args_json"),
    ...optional("preview", jsonOrNull<Preview>(row, "preview_json")),
    decisions: jsonIn<DecisionRecord[]>(row, "decisions_json"),
    ...optional("resolution", jsonOrNull<Resolution>(row, "resolution_json")),
    ...optional("result", jsonOrNull<ToolResult>(row, "result_json")),
  };
}

export const sideEffectOf = (row: Row): SideEffect => ({
  toolCallId: idOf(row),
  tool: textIn(row, "tool"),
  state: stateOf(row),
  reversible: flagIn(row, "reversible"),
  ...optional("undo", textOrNull(row, "undo")),
});
