/**
 * Text as the search index has it, and a question as the index understands it. Both sides cut alike: words, and where a
 * script sets no spaces every pair of neighbouring characters, because neither of FTS5's tokenizers finds a word of two
 * Chinese characters. What leaves here is letters, digits and marks only, so no text can speak FTS5's query language.
 */

/** UTF-16 units of one message that are searchable; the rest of a longer one is stored and not found. */
const INDEXED_CHARS = 64 * 1024;
const WORD_CHARS = 64;
const QUERY_TERMS = 12;
const QUERY_CHARS = 256;
/** Shorter words are matched whole: every word of the database that begins with one letter is too much to gather. */
const PREFIX_CHARS = 3;

const UNSPACED =
  /(?=[\p{L}\p{N}\p{M}])[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const MARK = /\p{M}/u;
const PIECE = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/** A stretch of text that is one word, or characters of a script without spaces. */
interface Piece {
  readonly spaced: boolean;
  readonly chars: readonly string[];
}

function* pieces(text: string): Generator<Piece> {
  for (const [found] of text.normalize("NFKC").matchAll(PIECE)) {
    let chars: string[] = [];
    let spaced = true;
    for (const char of found) {
      // A mark belongs to the character before it, whatever script it is of.
      const here: boolean = chars.length > 0 && MARK.test(char) ? spaced : !UNSPACED.test(char);
      if (chars.length > 0 && here !== spaced) {
        yield { spaced, chars };
        chars = [];
      }
      spaced = here;
      chars.push(char);
    }
    if (chars.length > 0) yield { spaced, chars };
  }
}

const pairs = (chars: readonly string[]): string[] => chars.slice(1).map((char, at) => `${chars[at] ?? ""}${char}`);
const wordOf = (chars: readonly string[]): string => chars.slice(0, WORD_CHARS).join("");

export interface Indexed {
  readonly words: string;
  readonly singles: string;
}

/** null: there is nothing in it to be found. */
export function indexed(text: string): Indexed | null {
  const words: string[] = [];
  const singles = new Set<string>();
  for (const { spaced, chars } of pieces(text.slice(0, INDEXED_CHARS))) {
    if (spaced) words.push(wordOf(chars));
    else {
      words.push(...pairs(chars));
      for (const char of chars) singles.add(char);
    }
  }
  if (words.length === 0 && singles.size === 0) return null;
  return { words: words.join(" "), singles: [...singles].join(" ") };
}

/** Every piece must occur. null: the question has nothing that can be found. */
export function matchOf(question: string, reader: string): string | null {
  const terms = new Set<string>();
  for (const { spaced, chars } of pieces(question.slice(0, QUERY_CHARS))) {
    if (terms.size === QUERY_TERMS) break;
    if (spaced) {
      const prefix = chars.length >= PREFIX_CHARS && chars.length <= WORD_CHARS ? " *" : "";
      terms.add(`words : "${wordOf(chars)}"${prefix}`);
    } else if (chars.length === 1) terms.add(`singles : "${chars[0] ?? ""}"`);
    else terms.add(`words : "${pairs(chars).join(" ")}"`);
  }
  return terms.size === 0 ? null : [`readers : "${reader}"`, ...terms].join(" AND ");
}

/** The token of one reader, in SQL of the columns and here; hexadecimal, so that no id can forge another's. */
export const READER_SQL = "'u' || lower(hex(p.tenant_id)) || 'g' || lower(hex(p.user_id))";
export const readerOf = (tenantId: string, userId: string): string => `u${hex(tenantId)}g${hex(userId)}`;

const hex = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
