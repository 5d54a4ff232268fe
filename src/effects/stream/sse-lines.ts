/**
 * From the bytes of an event stream to the data of its events, as the HTML standard frames them, over any division
 * into reads: LF, CR and CRLF, a byte order mark, comments, several data lines in one event, UTF-8 cut anywhere.
 *
 * One deviation: at the end of the body an unfinished last line and event count. Servers forget the last line end; a
 * line that was really cut is broken JSON, which is for the reader of the events to notice.
 *
 * It must not know what the data means. Invariants: the events depend on the bytes alone, never on how they were
 * divided; no more is kept than one event of at most `maxChars` UTF-16 units (and the read being scanned).
 */
const LF = 10;
const CR = 13;
const SPACE = 32;
const PARTS = 1024;

/** Takes one event; `false` ends the scan for good. `name` is "" where no `event:` line was sent. */
export type OnEvent = (data: string, name: string) => boolean;

export class SseLines {
  readonly #onEvent: OnEvent;
  readonly #maxChars: number;
  // The mark is removed below: with `stream`, not every runtime agrees on what "at the start" means.
  readonly #decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  #parts: string[] = [];
  #partsLength = 0;
  #afterCr = false;
  #started = false;
  #data: string | null = null;
  #name = "";
  #stopped = false;
  #tooLong = false;

  constructor(maxChars: number, onEvent: OnEvent) {
    this.#maxChars = maxChars;
    this.#onEvent = onEvent;
  }

  /** Whether a line or an event went over the bound. The scan has then ended. */
  get tooLong(): boolean {
    return this.#tooLong;
  }

  push(bytes: Uint8Array): void {
    if (!this.#stopped) this.#scan(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    if (this.#stopped) return;
    this.#scan(this.#decoder.decode());
    if (!this.#stopped && this.#partsLength > 0) this.#line(this.#takeLine(""));
    if (!this.#stopped) this.#dispatch();
    this.#stopped = true;
  }

  #scan(text: string): void {
    if (text === "") return;
    let at = 0;
    if (!this.#started) {
      this.#started = true;
      if (text.startsWith("\ufeff")) at = 1;
    }
    if (this.#afterCr && text.charCodeAt(at) === LF) at += 1;
    this.#afterCr = false;

    const hasCr = text.includes("\r", at);
    while (!this.#stopped) {
      const end = hasCr ? lineEnd(text, at) : text.indexOf("\n", at);
      if (end < 0) break;
      this.#line(this.#takeLine(text.slice(at, end)));
      at = end + 1;
      if (hasCr && text.charCodeAt(end) === CR) {
        if (at === text.length) this.#afterCr = true;
        else if (text.charCodeAt(at) === LF) at += 1;
      }
    }
    if (!this.#stopped && at < text.length) this.#keep(text.slice(at));
  }

  /** Kept as parts and not as one growing string: a line that comes byte by byte would be a chain of a node per byte. */
  #keep(text: string): void {
    this.#parts.push(text);
    this.#partsLength += text.length;
    if (this.#partsLength > this.#maxChars) this.#giveUp();
    else if (this.#parts.length === PARTS) this.#parts = [this.#parts.join("")];
  }

  #takeLine(rest: string): string {
    if (this.#parts.length === 0) return rest;
    this.#parts.push(rest);
    const line = this.#parts.join("");
    this.#parts = [];
    this.#partsLength = 0;
    return line;
  }

  #line(line: string): void {
    if (line.length > this.#maxChars) return this.#giveUp();
    if (line === "") return this.#dispatch();
    if (line.startsWith("data:")) this.#addData(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5));
    else if (line === "data") this.#addData("");
    else if (line === "event") this.#name = "";
    else if (line.startsWith("event:")) this.#name = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6);
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#maxChars) this.#giveUp();
  }

  #dispatch(): void {
    const data = this.#data;
    const name = this.#name;
    this.#data = null;
    this.#name = "";
    if (data !== null && !this.#onEvent(data, name)) this.#stopped = true;
  }

  #giveUp(): void {
    this.#tooLong = true;
    this.#stopped = true;
    this.#parts = [];
    this.#data = null;
  }
}

function lineEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LF || unit === CR) return at;
  }
  return -1;
}
