/**
 * Sentences about failures, made fit for people, models and the log of the conversation: one line, bounded, without
 * credentials and without stack traces. Tools write them, or the libraries that tools use, so nothing is taken on trust.
 */
import { hideCredentials } from "../protocol/credential-forms.ts";
import { cutText } from "../protocol/text.ts";

const FRAME = /\n\s*at .*$/gms;

/** @param known further secrets of this very call, removed wherever they stand */
export function cleanSentence(text: unknown, chars: number, known: readonly string[] = []): string {
  if (typeof text !== "string") return "";
  let clean = scrubSecrets(cutText(text, chars * 4), known).replace(FRAME, "");
  clean = clean
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return clean.length <= chars ? clean : `${cutText(clean, chars - 1)}…`;
}

export const scrubSecrets = (text: string, known: readonly string[] = []): string =>
  hideCredentials(text.toWellFormed(), known, "***");
