/**
 * Sentences about failures, made fit for people, models and the log of the conversation: one line, bounded, without
 * credentials and without stack traces. Tools write them, or the libraries that tools use, so nothing is taken on trust.
 */
import { cutText } from "../protocol/text.ts";

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic|token)\s+(?=\S*\d)[\w.~+/=-]{8,}/gi, "$1 ***"],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, "***"],
  [/\b(?:sk|pk|rk|ghp|gho|xox[abpr])[-_][\w-]{8,}/g, "***"],
  [
    /((?:api[-_]?key|password|passwd|secret|access[-_]?token|refresh[-_]?token|authorization)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
    "$1***",
  ],
  [/(:\/\/)[^\s/:@]+:[^\s/@]+@/g, "$1***@"],
];
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

export function scrubSecrets(text: string, known: readonly string[] = []): string {
  let clean = text.toWellFormed();
  for (const secret of known) if (secret.length >= 4) clean = clean.replaceAll(secret, "***");
  for (const [pattern, mask] of SECRETS) clean = clean.replace(pattern, mask);
  return clean;
}
