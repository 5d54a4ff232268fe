/**
 * What the model is told of a tool call: whether it worked, the data or the code and a clean sentence, and the arguments
 * that ran where they are not the ones it wrote. Never the text for people, an HTTP body or a stack trace.
 */
import { LIMITS } from "../protocol/limits.ts";
import { cutText } from "../protocol/text.ts";
import type { OwnToolErrorCode, ToolResult } from "../protocol/tool-result.ts";
import { encodeJson } from "./request-json.ts";

type Told = Pick<ToolResult, "success" | "data" | "error" | "source">;

const UNKNOWN_TOLD =
  "The outcome is unknown: it may or may not have happened. Assume neither, do not repeat it, and say so to the user.";

/** @param ran JSON text of the arguments that ran, where the model wrote others */
export function resultContent({ success, data, error, source }: Told, ran?: string): string {
  const args = ran === undefined ? {} : { args: JSON.parse(ran) };
  if (!success) {
    const { code = "tool_failed", message = "The tool failed." } = error ?? {};
    return capped(
      { success, error: { code, message: code === OUTCOME_UNKNOWN ? UNKNOWN_TOLD : message }, ...args },
      data,
    );
  }
  const note = source === "person" ? { note: "A person says that this happened." } : {};
  return capped({ success, ...args, ...note }, data);
}

const OUTCOME_UNKNOWN: OwnToolErrorCode = "outcome_unknown";

/** Of a call that nothing was heard of: what it became, for sure. */
export const untoldContent = (became: "outcome_unknown" | "cancelled"): string =>
  resultContent({
    success: false,
    error: { layer: "runtime", code: became, message: "It was not done.", retryable: false },
  });

/** Over the bound the data become the beginning of their JSON, as text and marked: half an object would be no JSON. */
function capped(head: Record<string, unknown>, data: unknown): string {
  if (data === undefined) return cappedHead(head);
  const whole = encodeJson({ ...head, data });
  if (whole.length <= LIMITS.toolResultModelChars) return whole;
  const json = encodeJson(data);
  const room = LIMITS.toolResultModelChars - cappedHead(head).length - TRUNCATED.length;
  let piece = cutText(json, Math.max(0, room));
  // Quotes and backslashes are escaped once more inside a string, so the piece is cut until the escaped one fits.
  for (let size = encodeJson(piece).length; size > room && piece !== ""; size = encodeJson(piece).length) {
    piece = cutText(piece, Math.min(piece.length - 1, Math.floor((piece.length * room) / size)));
  }
  return encodeJson({ ...head, truncated: true, data: piece });
}

const TRUNCATED = ',"truncated":true,"data":';

/** Arguments may be long as well; they are told as long as they leave most of the room to the data. */
function cappedHead(head: Record<string, unknown>): string {
  const whole = encodeJson(head);
  if (whole.length <= LIMITS.toolResultModelChars / 4) return whole;
  delete head["args"];
  return encodeJson(head);
}
