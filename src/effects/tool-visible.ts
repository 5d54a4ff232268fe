/**
 * Text that people decide on. Characters that cannot be seen, or that reorder what is seen, become visible, so that
 * nobody approves `invoice_fdp.exe` shown as something else. Only for showing: what is stored and run is unchanged.
 */
import { cutText } from "../protocol/text.ts";

/** Controls, formats, separators of lines, fillers, tags; but not the two selectors that emoji are written with. */
const UNSEEN = /(?!\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export function makeVisible(text: string): string {
  return text.toWellFormed().replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
  });
}

/** One cell of what is shown: visible and bounded, with a mark where it was cut. */
export function shown(text: string, chars: number): string {
  const visible = makeVisible(cutText(text, chars + 1));
  return visible.length <= chars ? visible : `${cutText(visible, chars - 1)}…`;
}
