/**
 * Text that grows by pieces and is well-formed Unicode at any time.
 *
 * A surrogate pair may be divided over two pieces (models emit half characters as JSON escapes). A high surrogate at
 * the end is therefore held back until the next piece shows whether it was half of a pair; a lone one becomes U+FFFD,
 * because one lone surrogate in the history makes every later request of the conversation invalid.
 *
 * Pieces are joined in blocks: pieces cut out of a network read would keep all of that read in memory, and a million
 * joined one by one would be a million nodes.
 */
const PIECES_PER_BLOCK = 64;

export class WellFormedText {
  #blocks: string[] = [];
  #pieces: string[] = [];
  #heldBack = "";
  #length = 0;

  /** In UTF-16 units, what is held back included. */
  get length(): number {
    return this.#length + this.#heldBack.length;
  }

  /** Returns what became visible: `piece`, less a high surrogate held back, plus the one held back before. */
  append(piece: string): string {
    if (this.#heldBack === "" && piece.isWellFormed()) return this.#store(piece);
    let text = this.#heldBack + piece;
    this.#heldBack = "";
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      this.#heldBack = text.slice(-1);
      text = text.slice(0, -1);
    }
    return this.#store(text.toWellFormed());
  }

  /** The whole text; what is held back counts as lone. */
  toString(): string {
    return [...this.#blocks, ...this.#pieces, this.#heldBack.toWellFormed()].join("");
  }

  #store(text: string): string {
    if (text === "") return text;
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#pieces.length === PIECES_PER_BLOCK) {
      this.#blocks.push(this.#pieces.join(""));
      this.#pieces = [];
    }
    return text;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
