/** Text at the boundary: well-formed Unicode, measured in UTF-8 bytes, cut without splitting a character. */
import * as z from "zod";

/** Bytes of `text` in UTF-8, without encoding it. Lone surrogates count as the three bytes of U+FFFD. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(at + 1))) {
      bytes += 2;
      at++;
    } else bytes += 2;
  }
  return bytes;
}

const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

/** At most `chars` UTF-16 units, never ending in half a surrogate pair. */
export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? chars - 1 : chars);
}

/** A string from outside: well-formed (a lone surrogate would make every later model request invalid JSON). */
export const boundedText = (maxBytes: number) =>
  z
    .string()
    .refine((text) => text.isWellFormed(), { error: "must be well-formed Unicode" })
    .refine((text) => utf8Bytes(text) <= maxBytes, { error: `must be at most ${maxBytes} bytes of UTF-8` })
    // Control characters take six bytes of JSON each, and what is stored and sent is JSON.
    .refine((text) => text.length * 6 <= maxBytes || utf8Bytes(JSON.stringify(text)) <= maxBytes * 1.25 + 2, {
      error: `must be at most ${maxBytes * 1.25} bytes as JSON`,
    });
