/**
 * Notices, while the text of a JSON object arrives in pieces, that its last brace has come. Nothing but blanks can
 * follow then. It checks no grammar: whether the text is valid JSON is for whoever parses it.
 */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;
  #hopeless = false;

  get reached(): boolean {
    return this.#begun && this.#depth === 0 && !this.#hopeless;
  }

  feed(piece: string): void {
    for (let at = 0; at < piece.length && !this.#hopeless; at++) this.#unit(piece.charCodeAt(at));
  }

  #unit(unit: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (unit === 0x5c) this.#escaped = true;
      else if (unit === 0x22) this.#inString = false;
      return;
    }
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) return;
    // Outside of the object: only its first brace is welcome, once.
    if (this.#depth === 0 && (this.#begun || unit !== 0x7b)) this.#hopeless = true;
    else if (unit === 0x22) this.#inString = true;
    else if (unit === 0x7b || unit === 0x5b) this.#depth += 1;
    else if (unit === 0x7d || unit === 0x5d) this.#depth -= 1;
    this.#begun = true;
  }
}
