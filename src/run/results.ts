/** Results that no tool gave: what a rejected, expired, cancelled or refused call tells the model and the people. */
import { langOf, textOf, type TextKey } from "../protocol/texts.ts";
import type { OwnToolErrorCode, ToolError, ToolResult } from "../protocol/tool-result.ts";
import type { CallState, RunState } from "./state.ts";

/** @param code of ours; the sentence is rendered in the language of the run's user */
export function ownResult(
  run: Pick<RunState, "principal">,
  call: Pick<CallState, "id" | "tool">,
  code: OwnToolErrorCode,
  more: { readonly text?: TextKey; readonly reason?: string; readonly layer?: ToolError["layer"] } = {},
): ToolResult {
  const lang = langOf(run.principal.locale);
  const key = more.text ?? `call.${code}`;
  const said = more.reason === undefined ? "" : ` (${more.reason})`;
  return {
    schemaVersion: 1,
    kind: "tool_execution_result",
    toolCallId: call.id,
    tool: call.tool,
    success: false,
    displayText: textOf(key, lang) + said,
    displayLang: lang,
    error: { layer: more.layer ?? "runtime", code, message: textOf(key, "en") + said, retryable: false },
  };
}

export function happenedResult(run: Pick<RunState, "principal">, call: Pick<CallState, "id" | "tool">): ToolResult {
  const lang = langOf(run.principal.locale);
  return {
    schemaVersion: 1,
    kind: "tool_execution_result",
    toolCallId: call.id,
    tool: call.tool,
    success: true,
    displayText: textOf("call.happened", lang),
    displayLang: lang,
    source: "person",
  };
}
