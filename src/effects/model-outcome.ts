/**
 * What a reading means for the run: pure functions from what came to what the core takes. The text of an answer that
 * failed, was cut or aborted is kept in every case, because people have seen it.
 */
import type { Payload } from "../actor/ports.ts";
import { toolCallIdOf } from "../protocol/ids.ts";
import { LIMITS } from "../protocol/limits.ts";
import { cutText, utf8Bytes } from "../protocol/text.ts";
import { langOf, textOf } from "../protocol/texts.ts";
import type { PreparedCall, TextBody } from "../run/inputs.ts";
import type { ModelEffect } from "../run/outstanding.ts";
import type { Ended } from "./model-clocks.ts";
import { timedOut } from "./stream/classify-failure.ts";
import type { DecodedAnswer, DecodedToolCall } from "./stream/decoded-answer.ts";
import { judgeAnswer, type AnswerVerdict } from "./stream/judge-answer.ts";

/**
 * The answer's verdict, or the clock that ran out before there was one. An answer whose finish reason has come is
 * complete, even if the provider then neither says `[DONE]` nor closes.
 */
export function verdictOf(answer: DecodedAnswer, ended: Ended | null): AnswerVerdict | { kind: "aborted" } {
  if (ended === "aborted") return { kind: "aborted" };
  if (ended === null || (answer.finishReason !== null && answer.failure === null)) return judgeAnswer(answer);
  return { kind: "failed", text: answer.text, usage: answer.usage, stop: timedOut(ended) };
}

/** A text for an event: as it is, or over the bound as an excerpt of a payload. */
export async function textBody(
  text: string,
  sha256: (text: string) => Promise<string>,
): Promise<{ readonly text: TextBody; readonly payloads: readonly Payload[] }> {
  // As JSON, because that is what the bound of an event is about: a NUL is one character, and six in the log.
  const fits = text.length * 6 <= LIMITS.payloadInlineBytes || jsonBytes(text) <= LIMITS.payloadInlineBytes;
  if (fits) return { text: { text }, payloads: [] };
  const digest = await sha256(text);
  const excerpt = { text: cutText(text, LIMITS.excerptChars), excerptOf: { digest, bytes: utf8Bytes(text) } };
  return { text: excerpt, payloads: [{ digest, body: text }] };
}

const jsonBytes = (text: string): number => utf8Bytes(JSON.stringify(text));

/** Reasoning is kept for people, bounded: it has no payload of its own. */
export const boundedReasoning = (text: string): string => cutText(text, LIMITS.excerptChars * 2);

/**
 * The calls of an answer that was cut: none is prepared, so that nothing of them is looked up, previewed or offered.
 * The core tells the model so, in its own words.
 */
export function cutCalls(effect: ModelEffect, calls: readonly DecodedToolCall[]): PreparedCall[] {
  const displayLang = langOf(effect.run.principal.locale);
  return calls.map(({ name, providerId }, index) => ({
    kind: "refused",
    tool: name,
    modelArgs: {},
    fingerprint: `truncated:${name}`,
    payload: {
      schemaVersion: 1,
      kind: "tool_execution_result",
      toolCallId: toolCallIdOf(effect.run.id, effect.firstCall + index),
      tool: name,
      success: false,
      displayText: textOf("call.output_truncated", displayLang),
      displayLang,
      error: {
        layer: "runtime",
        code: "output_truncated",
        message: textOf("call.output_truncated", "en"),
        retryable: false,
      },
    },
    ...(providerId === null ? {} : { providerId }),
  }));
}
