/**
 * The fast path: recognises event data that differ from an earlier event only in the piece of text, and takes the piece
 * out without parsing JSON. Nearly all of a stream is such events.
 *
 * Why it cannot differ from parsing: a shape is learned from an event that was parsed and showed text. With a mark in
 * place of its text, the event must fold to exactly that mark and to nothing else. Since neither side holds a backslash
 * or the mark, the mark then is the raw inside of the string that counts as content; any other inside without quote,
 * backslash and control character parses to itself, and everything around it to what it was. What folding depends on
 * besides (whether text, or a model's name, has come) was settled by the event that was learned.
 */
import { AnswerAccumulator } from "./answer-accumulator.ts";
import { isJsonObject } from "./json-shape.ts";

const CONTENT = /"content":\s*"/g;
// oxlint-disable-next-line no-control-regex -- a JSON string holds none of them raw
const NEEDS_PARSING = /["\\\u0000-\u001f]/;
const MARK = "\u00a7mark\u00a7";

type Shape = { readonly before: string; readonly after: string };

export class PlainDelta {
  #shape: Shape | null = null;
  #candidate: Shape | null = null;

  /** The text that the event holds and nothing but, or null where it has to be parsed. */
  match(data: string): string | null {
    const shape = this.#shape;
    if (shape === null) return null;
    const { before, after } = shape;
    const end = data.length - after.length;
    // Comparing slices, and not `startsWith`, which compares character by character.
    if (end < before.length || data.slice(end) !== after || data.slice(0, before.length) !== before) return null;
    const piece = data.slice(before.length, end);
    return NEEDS_PARSING.test(piece) ? null : piece;
  }

  /**
   * Offers the data of an event that was parsed and showed `text`. It is learned at the second event of the same shape:
   * in a stream where something else changes with each event, that something would cost a second parsing every time.
   */
  learn(data: string, text: string): void {
    const found = data.includes("\\") ? null : shapeAround(data, text);
    if (found === null) return;
    const known = this.#candidate;
    this.#candidate = found;
    if (known?.before === found.before && known.after === found.after && isPlain(found)) this.#shape = found;
  }
}

function shapeAround(data: string, text: string): Shape | null {
  CONTENT.lastIndex = 0;
  const key = CONTENT.exec(data);
  if (key === null || !data.startsWith(`${text}"`, CONTENT.lastIndex)) return null;
  return { before: data.slice(0, CONTENT.lastIndex), after: data.slice(CONTENT.lastIndex + text.length) };
}

function isPlain({ before, after }: Shape): boolean {
  if (before.includes(MARK) || after.includes(MARK)) return false;
  let value: unknown;
  try {
    value = JSON.parse(before + MARK + after);
  } catch {
    return false;
  }
  if (!isJsonObject(value)) return false;
  const probe = new AnswerAccumulator({ answerChars: MARK.length, calls: 0 });
  return probe.fold(value) === MARK && probe.changes === 1 && probe.failure === null;
}
