/**
 * The one value that an outcome becomes. State, event, payload, text to the model and text to people all derive from it,
 * so it is made here whole: code, clean sentence, sentence in the user's language, bounded data.
 */
import type { Payload } from "../actor/ports.ts";
import { LIMITS } from "../protocol/limits.ts";
import { cutText, utf8Bytes } from "../protocol/text.ts";
import { langOf, textOf, type Lang, type TextKey } from "../protocol/texts.ts";
import type { OwnToolErrorCode, ToolError, ToolResult } from "../protocol/tool-result.ts";
import type { ToolFailure } from "../tools/outcome.ts";
import { sha256 } from "./digests.ts";
import { cleanSentence, scrubSecrets } from "./tool-scrub.ts";

const SENTENCE_CHARS = 1_000;
const DISPLAY_CHARS = 4_096;
const HTTP_BODY_CHARS = 1_024;

export interface CallRef {
  readonly toolCallId: string;
  readonly tool: string;
  readonly title: { readonly en: string; readonly zh: string };
  readonly locale: string | undefined;
}

export interface Said {
  readonly payload: ToolResult;
  readonly payloads: readonly Payload[];
}

/** An error of ours. `detail` is a sentence of ours too, for the model and for people who read English. */
export function ownError(
  code: OwnToolErrorCode,
  more: {
    readonly detail?: string;
    readonly text?: TextKey;
    readonly retryable?: boolean;
    readonly layer?: ToolError["layer"];
  } = {},
): ToolError {
  const sentence = textOf(more.text ?? `call.${code}`, "en");
  const detail = more.detail === undefined ? "" : ` ${more.detail}`;
  return {
    layer: more.layer ?? "runtime",
    code,
    message: cleanSentence(sentence + detail, SENTENCE_CHARS),
    retryable: more.retryable ?? false,
  };
}

/** A tool's own word on why it failed; code and sentence are bounded and cleaned, whatever they were. */
export function toolError(
  failure: { readonly [K in keyof ToolFailure]?: unknown },
  secrets: readonly string[],
): ToolError {
  const { code, message, retryable, layer, http } = failure;
  const named = typeof code === "string" && /^[\w.:-]{1,64}$/.test(code);
  const sentence = cleanSentence(message, SENTENCE_CHARS, secrets);
  return {
    layer: layer === "transport" || layer === "gateway" ? layer : "tool",
    code: named ? code : "tool_failed",
    message: sentence === "" ? textOf("call.tool_failed", "en") : sentence,
    retryable: retryable === true,
    ...httpOf(http, secrets),
  };
}

/** Of an answer, its status and the beginning of its body; nothing where there is no status. */
function httpOf(http: unknown, secrets: readonly string[]): { http?: { status: number; body?: string } } {
  if (typeof http !== "object" || http === null || !("status" in http)) return {};
  const { status } = http;
  if (typeof status !== "number" || !Number.isInteger(status)) return {};
  if (!("body" in http) || typeof http.body !== "string") return { http: { status } };
  return {
    http: { status, body: cutText(scrubSecrets(cutText(http.body, HTTP_BODY_CHARS * 2), secrets), HTTP_BODY_CHARS) },
  };
}

/** @param text which of our sentences people read, where it is not the code's own */
export function failedResult(ref: CallRef, error: ToolError, text?: TextKey): ToolResult {
  const lang = langOf(ref.locale);
  return { ...base(ref, lang), success: false, displayText: failureText(ref, error, lang, text), error };
}

function failureText(ref: CallRef, error: ToolError, lang: Lang, text?: TextKey): string {
  const own = textOf(text ?? `call.${error.code}`, lang);
  if (own !== "") return own;
  return lang === "zh" ? `${ref.title.zh}失败：${error.message}` : `${ref.title.en} failed: ${error.message}`;
}

export const doneText = (ref: CallRef, lang: Lang): string =>
  lang === "zh" ? `${ref.title.zh}：已完成。` : `${ref.title.en}: done.`;

/** @param data plain JSON; over the inline bound it stands in `payloads`, and an excerpt in its place */
export async function succeededResult(
  ref: CallRef,
  data: unknown,
  displayText: string,
  source: NonNullable<ToolResult["source"]>,
): Promise<Said> {
  const lang = langOf(ref.locale);
  const text = cutText(displayText.toWellFormed(), DISPLAY_CHARS);
  const payload: ToolResult = { ...base(ref, lang), success: true, displayText: text, source };
  const bounded = bound(data);
  const body = JSON.stringify(bounded);
  const bytes = utf8Bytes(body);
  if (bytes <= LIMITS.payloadInlineBytes) return { payload: { ...payload, data: bounded }, payloads: [] };
  const digest = await sha256(body);
  const excerpt = cutText(typeof bounded === "string" ? bounded : body, LIMITS.excerptChars);
  return { payload: { ...payload, data: excerpt, excerptOf: { digest, bytes } }, payloads: [{ digest, body }] };
}

/** Over the cap: text is cut; other data becomes the cut text of its JSON. Both say so at their end. */
function bound(data: unknown): unknown {
  const body = JSON.stringify(data);
  const bytes = utf8Bytes(body);
  if (bytes <= LIMITS.toolResultBytes) return data;
  const text = typeof data === "string" ? data : body;
  const mark = `… [cut: ${bytes} bytes in all]`;
  // A UTF-16 unit is at most three bytes of UTF-8, and six of JSON where it is escaped.
  let cut = cutText(text, LIMITS.toolResultBytes);
  while (utf8Bytes(JSON.stringify(cut + mark)) > LIMITS.toolResultBytes)
    cut = cutText(cut, Math.floor(cut.length * 0.8));
  return cut + mark;
}

function base(ref: CallRef, lang: Lang) {
  const { toolCallId, tool } = ref;
  return { schemaVersion: 1, kind: "tool_execution_result", toolCallId, tool, displayLang: lang } as const;
}
