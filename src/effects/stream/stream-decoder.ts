/**
 * The decoder for answers of OpenAI-compatible chat-completion endpoints: bytes in, text as it becomes visible out,
 * the whole answer at the end. It is pure: no fetch, no clock, no platform.
 *
 * It must not classify or judge (classify-failure.ts, judge-answer.ts) and must not repair. Invariants: it never throws,
 * whatever the bytes; the answer depends on the bytes alone and not on how they were divided into reads; memory is
 * bounded by `limits`, and going over one is a protocol error; after `[DONE]` or a failure nothing is read any more.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { AnswerAccumulator, type AnswerBounds } from "./answer-accumulator.ts";
import { DEFAULT_BOUNDS, decodeWhole } from "./decode-whole.ts";
import type { DecodedAnswer } from "./decoded-answer.ts";
import { isJsonObject } from "./json-shape.ts";
import { PlainDelta } from "./plain-delta.ts";
import { SseLines } from "./sse-lines.ts";

export type StreamLimits = AnswerBounds & {
  /** Of one line and of one event, in UTF-16 units, of which a text never has more than bytes. */
  readonly lineChars: number;
  readonly streamBytes: number;
};

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  ...DEFAULT_BOUNDS,
  lineChars: LIMITS.sseLineBytes,
  streamBytes: LIMITS.streamBytes,
};

/** Sent as data by servers that do not know comments. `data: : keepalive` begins with a colon, as a comment does. */
const KEEP_ALIVES: ReadonlySet<string> = new Set(["", "ping", "keepalive", "keep-alive", "heartbeat"]);

/** Before anything that counts: blanks and the bytes of a byte order mark. */
const INSIGNIFICANT: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const OPENING_BRACE = 0x7b;

export class StreamDecoder {
  readonly #limits: StreamLimits;
  readonly #answer: AnswerAccumulator;
  readonly #lines: SseLines;
  readonly #plain: PlainDelta | null;
  #body: "unknown" | "stream" | "whole" = "unknown";
  readonly #wholeDecoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  #whole: string[] = [];
  #bytes = 0;
  #events = 0;
  #wholeBytes = 0;
  #shown = "";
  #sawDone = false;
  #ended: DecodedAnswer | null = null;

  /** `fastPath: false` parses every event; it exists so that a test can compare. */
  constructor({ limits = DEFAULT_STREAM_LIMITS, fastPath = true }: { limits?: StreamLimits; fastPath?: boolean } = {}) {
    this.#limits = limits;
    this.#answer = new AnswerAccumulator(limits);
    this.#lines = new SseLines(limits.lineChars, (data, name) => this.#event(data, name));
    this.#plain = fastPath ? new PlainDelta() : null;
  }

  /** Whether the answer is over: `[DONE]`, a failure, or `end`. The body may still be open; it need not be read on. */
  get done(): boolean {
    return this.#sawDone || this.#answer.failure !== null || this.#ended !== null;
  }

  /**
   * A counter that rises with real progress only: comments, keep-alives, empty deltas and repetitions leave it. Of a body
   * that is no stream every byte counts, as nothing better is known of it.
   */
  get progressed(): number {
    return this.#answer.changes + this.#wholeBytes;
  }

  /** Whether any reasoning came so far: the text of the message is then not its first part. */
  get reasoned(): boolean {
    return this.#answer.reasoned;
  }

  /** Takes the next bytes (any number) and returns the text that they made visible. They may be reused afterwards. */
  push(bytes: Uint8Array): string {
    if (this.done) return "";
    const room = this.#limits.streamBytes - this.#bytes;
    this.#bytes += bytes.byteLength;
    this.#shown = "";
    this.#take(bytes.byteLength > room ? bytes.subarray(0, room) : bytes);
    if (bytes.byteLength > room && !this.done) {
      this.#answer.protocolError(`more than ${this.#limits.streamBytes} bytes of stream`);
    }
    return this.#shown;
  }

  /**
   * The body is over, or nobody waits for the rest of it: gives what the answer is so far. Its text begins with all
   * that `push` returned and may be longer: by what only the end made visible.
   */
  end(): DecodedAnswer {
    if (this.#ended !== null) return this.#ended;
    if (!this.done && this.#body === "whole") {
      this.#whole.push(this.#wholeDecoder.decode());
      this.#ended = decodeWhole(this.#whole.join(""), this.#limits);
      this.#whole = [];
      return this.#ended;
    }
    if (!this.done) {
      this.#lines.end();
      this.#checkBounds();
    }
    this.#ended = this.#answer.answer(this.#sawDone);
    return this.#ended;
  }

  #take(bytes: Uint8Array): void {
    if (this.#body === "unknown") {
      const first = bytes.findIndex((byte) => !INSIGNIFICANT.has(byte));
      if (first >= 0) this.#body = bytes[first] === OPENING_BRACE ? "whole" : "stream";
      // A line of an event stream cannot begin with a brace and mean anything.
      if (this.#body === "whole") return this.#takeWhole(bytes.subarray(first));
    }
    if (this.#body === "whole") return this.#takeWhole(bytes);
    this.#lines.push(bytes);
    this.#checkBounds();
  }

  #takeWhole(bytes: Uint8Array): void {
    this.#wholeBytes += bytes.byteLength;
    this.#whole.push(this.#wholeDecoder.decode(bytes, { stream: true }));
    if (this.#whole.length === 1024) this.#whole = [this.#whole.join("")];
  }

  #checkBounds(): void {
    if (this.#lines.tooLong) this.#answer.protocolError(`more than ${this.#limits.lineChars} characters in one event`);
  }

  #event(data: string, name: string): boolean {
    this.#events += 1;
    const plain = name === "" && this.#plain !== null ? this.#plain.match(data) : null;
    if (plain === null) this.#parse(data, name);
    else this.#shown += this.#answer.foldText(plain);
    return !this.done;
  }

  #parse(data: string, name: string): void {
    const trimmed = data.trim();
    if (trimmed === "[DONE]") {
      this.#sawDone = true;
      return;
    }
    if (trimmed.startsWith(":") || KEEP_ALIVES.has(trimmed.toLowerCase())) return;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // Two events glued on one line end here as well. Reading on would make an answer with a hole look complete.
      return this.#answer.protocolError(`event ${this.#events} is not JSON`);
    }
    if (!isJsonObject(value)) return this.#answer.protocolError(`event ${this.#events} is no JSON object`);
    const shown = this.#answer.fold(value, name === "error");
    this.#shown += shown;
    if (shown !== "") this.#plain?.learn(data, shown);
  }
}
