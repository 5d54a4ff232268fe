/**
 * Reads one answer: sends the request, feeds the decoder, shows text as it comes, and ends as soon as the answer has.
 *
 * It must not judge what came (`model-outcome.ts`). Invariants: text is shown once per network read; after `[DONE]`, a
 * failure, a clock or an abort the provider's connection is let go, without waiting for it.
 */
import type { Clock } from "../actor/ports.ts";
import type { Ended, ModelClocks } from "./model-clocks.ts";
import type { ModelClient } from "./model-client.ts";
import type { DecodedAnswer } from "./stream/decoded-answer.ts";
import { StreamDecoder } from "./stream/stream-decoder.ts";

export type Reading =
  | { readonly kind: "answer"; readonly answer: DecodedAnswer; readonly ended: Ended | null; readonly part: number }
  | { readonly kind: "refused"; readonly status: number; readonly body: string; readonly retryAfter: string | null }
  | { readonly kind: "unreachable"; readonly cause: unknown };

export interface ReadRequest {
  readonly client: Pick<ModelClient, "send">;
  readonly clock: Clock;
  readonly clocks: ModelClocks;
  readonly body: string;
  readonly onText: (text: string, part: number) => void;
}

const READ_BYTES = 64 * 1024;
/** How long a provider has to end a body by itself after `[DONE]`, so that its connection can be used again. */
const DRAIN_MS = 100;

export async function readAnswer(request: ReadRequest): Promise<Reading> {
  const { client, clocks, clock } = request;
  const decoder = new StreamDecoder();
  const shown = new Shown(decoder, request.onText);
  let response;
  try {
    response = await clocks.orEnded(client.send(request.body, clocks.signal));
  } catch (cause) {
    if (clocks.ended === null) return { kind: "unreachable", cause };
    response = null;
  }
  if (response?.kind === "refused") return response;
  if (response?.body) await pump(response.body, decoder, shown, clocks, clock);
  const answer = decoder.end();
  if (clocks.ended !== "aborted") shown.rest(answer);
  return { kind: "answer", answer, ended: clocks.ended, part: shown.part };
}

async function pump(
  body: ReadableStream<Uint8Array>,
  decoder: StreamDecoder,
  shown: Shown,
  clocks: ModelClocks,
  clock: Clock,
): Promise<void> {
  const reads = readsOf(body);
  clocks.signal.addEventListener("abort", reads.cancel, { once: true });
  if (clocks.ended !== null) reads.cancel();
  let before = -1;
  try {
    while (!decoder.done && clocks.ended === null) {
      const bytes = await reads.next();
      if (bytes === null || clocks.ended !== null) return;
      if (bytes.byteLength === 0) continue;
      const text = decoder.push(bytes);
      if (decoder.progressed !== before) clocks.progress();
      before = decoder.progressed;
      if (text !== "") shown.add(text);
    }
  } catch {
    // The connection broke. What is missing then, the answer itself shows: it has no finish reason.
    return;
  } finally {
    clocks.signal.removeEventListener("abort", reads.cancel);
    if (decoder.done) drain(reads, clock);
  }
}

/** Usually the end follows at once; a body that stays open is closed by us. Nobody waits for either. */
function drain(reads: Reads, clock: Clock): void {
  const release = clock.after(DRAIN_MS, reads.cancel);
  const toEnd = async (): Promise<void> => {
    while ((await reads.next()) !== null) continue;
  };
  void toEnd()
    .catch(() => undefined)
    .then(release);
}

/** What the user has been shown, and as which part of the message: reasoning, where there is any, comes first. */
class Shown {
  readonly #decoder: StreamDecoder;
  readonly #onText: ReadRequest["onText"];
  #chars = 0;
  #part: number | null = null;

  constructor(decoder: StreamDecoder, onText: ReadRequest["onText"]) {
    this.#decoder = decoder;
    this.#onText = onText;
  }

  get part(): number {
    this.#part ??= this.#decoder.reasoned ? 1 : 0;
    return this.#part;
  }

  add(text: string): void {
    this.#chars += text.length;
    this.#onText(text, this.part);
  }

  /** What only the end made visible. */
  rest({ text }: DecodedAnswer): void {
    if (text.length > this.#chars) this.add(text.slice(this.#chars));
  }
}

interface Reads {
  /** The next bytes, valid until the call after it; null at the end. */
  readonly next: () => Promise<Uint8Array | null>;
  readonly cancel: () => void;
}

/** BYOB where the stream can: one buffer for the whole answer. A stream that is no byte stream is read as it is. */
function readsOf(body: ReadableStream<Uint8Array>): Reads {
  const byob = byobReaderOf(body);
  if (byob === null) {
    const reader = body.getReader();
    return { next: async () => (await reader.read()).value ?? null, cancel: canceller(reader) };
  }
  let buffer = new ArrayBuffer(READ_BYTES);
  const next = async (): Promise<Uint8Array | null> => {
    const { done, value } = await byob.read(new Uint8Array(buffer));
    if (done || value === undefined) return null;
    buffer = value.buffer;
    return value;
  };
  return { next, cancel: canceller(byob) };
}

/** Also wakes a pending read. A stream that has failed already rejects, and is gone all the same. */
const canceller = (reader: { cancel(): Promise<void> }) => (): void => {
  void reader.cancel().catch(() => undefined);
};

function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}
