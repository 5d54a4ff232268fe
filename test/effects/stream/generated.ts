/** Generated streams: what a model said, and bytes that say it, in many dialects of JSON and of event framing. */
import * as fc from "fast-check";
import { delta } from "./streams.ts";

/** Several times as many runs in a long session: `FUZZ_FACTOR=100 npx vitest run --project core test/effects`. */
export function runs(count: number): number {
  return Math.ceil(count * Number(process.env.FUZZ_FACTOR ?? 1));
}

export type Saying =
  | { readonly kind: "text" | "reasoning"; readonly piece: string }
  | { readonly kind: "call"; readonly index: number; readonly piece: string }
  | { readonly kind: "noise"; readonly lines: string };

/** Text of any UTF-16 units: lone surrogates, pairs divided over pieces, quotes, backslashes, controls. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("\ud83d", "\ude80", "\ud83d\ude80", '"', "\\", "\0", "\n", "\u2028", "", "data: "),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 4 })
      .map((units) => String.fromCharCode(...units)),
  },
);

const noise = fc.constantFrom(
  ": comment",
  ":",
  "data:",
  "data: : keepalive",
  'event: ping\ndata: {"type":"ping"}',
  "id: 3\nretry: 10",
  'data: {"choices":null}',
  'data: {"choices":[],"usage":null}',
);

const saying: fc.Arbitrary<Saying> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("text" as const), piece }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reasoning" as const), piece }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("call" as const), index: fc.nat(3), piece }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("noise" as const), lines: noise }) },
);

export const sayings = fc.array(saying, { maxLength: 30 });

/** How a server writes: its JSON, its line ends, whether it escapes all that is not ASCII, and what else a chunk has. */
export const dialect = fc.record({
  lineEnd: fc.constantFrom("\n", "\r", "\r\n"),
  space: fc.constantFrom("", " "),
  spaced: fc.boolean(),
  ascii: fc.boolean(),
  mark: fc.boolean(),
  padded: fc.boolean(),
  unfinished: fc.boolean(),
});
export type Dialect = typeof dialect extends fc.Arbitrary<infer T> ? T : never;

export function write(said: readonly Saying[], how: Dialect): string {
  const events = said.map((one, i) =>
    one.kind === "noise" ? one.lines : `data:${how.space}${json(chunkOf(one, i, how), how)}`,
  );
  events.push(`data:${how.space}${json(delta({}, "stop"), how)}`, `data:${how.space}[DONE]`);
  const stream = events.map((one) => `${one}\n\n`).join("");
  const ended = how.unfinished ? stream.trimEnd() : stream;
  return (how.mark ? "\ufeff" : "") + ended.replaceAll("\n", how.lineEnd);
}

function chunkOf(one: Exclude<Saying, { kind: "noise" }>, i: number, { padded }: Dialect): object {
  const more = padded ? { obfuscation: "x".repeat(i % 7) } : {};
  switch (one.kind) {
    case "text":
      return { ...delta({ content: one.piece }), ...more };
    case "reasoning":
      return { ...delta({ reasoning_content: one.piece }), ...more };
    case "call":
      return delta({
        tool_calls: [{ index: one.index, id: `c${one.index}`, function: { name: "f", arguments: one.piece } }],
      });
  }
}

/** `JSON.stringify` escapes lone surrogates by itself; with `ascii` everything else beyond ASCII too. */
function json(value: object, { spaced, ascii }: Dialect): string {
  const compact = JSON.stringify(value);
  const text = spaced ? JSON.stringify(value, null, 1).replaceAll(/\n */g, " ") : compact;
  return ascii
    ? text.replaceAll(/[^\x20-\x7e]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
}

/** What a decoder has to make of it, said without any decoding. */
export function meant(said: readonly Saying[]) {
  const join = (kind: "text" | "reasoning"): string =>
    said
      .map((one) => (one.kind === kind ? one.piece : ""))
      .join("")
      .toWellFormed();
  const args = [0, 1, 2, 3].map((index) =>
    said.flatMap((one) => (one.kind === "call" && one.index === index ? [one.piece] : [])),
  );
  return {
    text: join("text"),
    reasoning: join("reasoning"),
    calls: args.filter((pieces) => pieces.length > 0).map((pieces) => pieces.join("").toWellFormed()),
  };
}
