/** What the decoder's tests share: running it over a division of bytes, and writing streams by hand. */
import { StreamDecoder, type StreamLimits } from "../../../src/effects/stream/stream-decoder.ts";

export const DONE = "data: [DONE]\n\n";

export type Options = { readonly limits?: StreamLimits; readonly fastPath?: boolean };

/** Feeds the writes in, as a reader would that leaves once the decoder is done. `shown` is all that `push` returned. */
export function decode(writes: readonly Uint8Array[], options: Options = {}) {
  const decoder = new StreamDecoder(options);
  let shown = "";
  for (const write of writes) {
    if (decoder.done) break;
    shown += decoder.push(write);
  }
  const progressed = decoder.progressed;
  return { answer: decoder.end(), shown, progressed };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function decodeText(text: string, options: Options = {}) {
  return decode([bytesOf(text)], options);
}

export function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

/** Cuts at the given places, in any order and repeated; empty writes included, as a network may give none. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...edges, bytes.length].map((edge, i) => bytes.subarray(edges[i - 1] ?? 0, edge));
}

export function event(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

/** A chunk as OpenAI sends it, with this delta. */
export function delta(value: object, finishReason: string | null = null) {
  const head = { id: "c1", object: "chat.completion.chunk", created: 1_700_000_000, model: "fake-1" };
  return { ...head, choices: [{ index: 0, delta: value, finish_reason: finishReason }] };
}

export function text(content: string): string {
  return event(delta({ content }));
}

/** Chunks of tool-call fragments, one event for each list, with a proper end. */
export function calls(...fragments: readonly unknown[][]): string {
  const events = fragments.map((entries) => event(delta({ tool_calls: entries })));
  return `${events.join("")}${event(delta({}, "tool_calls"))}${DONE}`;
}

/** A fragment: `{index?, id?}` and its function. */
export function fragment(identity: object, name: string | undefined, args: unknown): object {
  const named = name === undefined ? {} : { name };
  return { ...identity, type: "function", function: { ...named, ...(args === undefined ? {} : { arguments: args }) } };
}
