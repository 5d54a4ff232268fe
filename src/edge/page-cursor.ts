/**
 * Page cursors: a position sealed to the query that it came from. A client cannot make one, and one of another
 * person, conversation or filter is refused instead of read as a position in this list.
 */
import { reject, type Result } from "../protocol/problems.ts";
import { fromBase64Url, toBase64Url, utf8 } from "./bytes.ts";
import { macOf } from "./keys.ts";

export interface PageCursors {
  /** `binding`: everything that the list depends on, but for its page. */
  seal(position: string, binding: readonly string[]): Promise<string>;
  open(cursor: string, binding: readonly string[]): Promise<Result<string>>;
}

export function pageCursors(masterKey: string): PageCursors {
  const mac = macOf(masterKey, "page-cursors");
  return {
    async seal(position, binding) {
      const signature = await mac.sign([position, ...binding]);
      return `${toBase64Url(utf8(position))}.${toBase64Url(signature)}`;
    },
    async open(cursor, binding) {
      const [encoded = "", signature = "", ...more] = cursor.split(".");
      const bytes = fromBase64Url(encoded);
      const seal = fromBase64Url(signature);
      if (bytes === null || seal === null || more.length > 0) return INVALID;
      const position = new TextDecoder().decode(bytes);
      return (await mac.verify([position, ...binding], seal)) ? { ok: true, value: position } : INVALID;
    },
  };
}

const INVALID: Result<never> = {
  ok: false,
  rejection: reject("cursor_invalid", "The cursor is not one of this list."),
};
