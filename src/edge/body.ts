/**
 * From a request's bytes to JSON: media type, size counted while it streams, UTF-8, syntax, bounds. It must not trust
 * `Content-Length`, and it keeps nothing beyond the first byte too many.
 */
import { LIMITS } from "../protocol/limits.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { readClientJson } from "../protocol/json-bounds.ts";

const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?$/i;

/** `empty`: what an absent body stands for; without it a body is required. */
export async function readJson(request: Request, empty?: unknown): Promise<Result<unknown>> {
  const type = request.headers.get("content-type");
  const encoding = request.headers.get("content-encoding");
  // Compressed bodies are not taken: their size would be known only after the work.
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    return refuse("unsupported_media_type", "Send the body without a content encoding.");
  }
  if (type !== null && !JSON_TYPE.test(type))
    return refuse("unsupported_media_type", "Send application/json in UTF-8.");
  if (Number(request.headers.get("content-length")) > LIMITS.bodyBytes) return tooLarge();
  const bytes = await readAtMost(request.body, LIMITS.bodyBytes);
  if (bytes === null) return tooLarge();
  if (bytes.length === 0 && empty !== undefined) return { ok: true, value: empty };
  if (bytes.length === 0) return refuse("malformed_json", "A JSON body is required.");
  if (type === null) return refuse("unsupported_media_type", "Say Content-Type: application/json.");
  return parseJson(bytes);
}

function parseJson(bytes: Uint8Array): Result<unknown> {
  const text = textOf(bytes);
  const read = text === null ? NOT_JSON : readClientJson(text);
  switch (read.kind) {
    case "kept":
      return { ok: true, value: read.value };
    case "malformed":
      return refuse("malformed_json", "The body is not JSON in UTF-8.");
    case "outside": {
      const errors = [read.error];
      return { ok: false, rejection: reject("invalid_request", "The body is not acceptable.", { errors }) };
    }
  }
}

const NOT_JSON = { kind: "malformed" } as const;

/** null: it is not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

/** null: there is more than `limit` bytes; the rest is left in the stream. */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > limit) return null;
      chunks.push(value);
    }
  } finally {
    reader.releaseLock();
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** What a client may still send after it was refused, and how long, before its connection is cut. */
const DRAIN_BYTES = 32 * 1024 * 1024;
const DRAIN_MS = 2_000;

/**
 * Takes in what is left of a body and forgets it: a client that is still writing when its connection closes sees a
 * broken pipe, not the problem that tells it why. Never throws.
 */
export async function drain(stream: ReadableStream<Uint8Array> | null): Promise<void> {
  if (stream === null || stream.locked) return;
  const reader = stream.getReader();
  const cut = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_MS);
  try {
    for (let left = DRAIN_BYTES; left > 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.length;
    }
    await reader.cancel();
  } catch {
    // The client has gone, or the stream was broken before.
  } finally {
    clearTimeout(cut);
  }
}

const refuse = (code: Parameters<typeof reject>[0], detail: string): Result<never> => ({
  ok: false,
  rejection: reject(code, detail),
});
const tooLarge = () => refuse("payload_too_large", `A body has at most ${LIMITS.bodyBytes} bytes.`);
