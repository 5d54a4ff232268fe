/**
 * Load mode: N deltas `#<number from 0>@<send time in ms> `, one write each, then usage. The time is taken directly
 * before the write, on the clock that `performance.timeOrigin + performance.now()` gives to every process of the
 * machine, so that whoever reads the text at the far end can tell how long it was under way.
 *
 * Times of sending are fixed from the start (not "D after the last one"), so a slow moment does not stretch the stream.
 */
import type { ServerResponse } from "node:http";
import { nowMs } from "./exchange.ts";
import type { JsonObject } from "./json.ts";
import { countWrite, type Progress } from "./playback.ts";

/** N deltas, D ms apart, each with PAD bytes more. */
export type Load = { readonly n: number; readonly gapMs: number; readonly pad: number };

/** `load:N:D`, optionally `load:N:D:PAD` and a `#label` that makes it a scope of its own. */
const LOAD_MODEL = /^load:(\d+):(\d+(?:\.\d+)?)(?::(\d+))?(?:#.*)?$/;

export function readLoad(model: string): Load | undefined {
  const match = LOAD_MODEL.exec(model);
  return match === null ? undefined : { n: Number(match[1]), gapMs: Number(match[2]), pad: Number(match[3] ?? 0) };
}

export function playLoad(res: ServerResponse, progress: Progress, { n, gapMs, pad }: Load, body: JsonObject): void {
  const head = `{"id":"chatcmpl-load","created":0,"model":${asciiJson(String(body.model))},`;
  const usage = `"usage":{"prompt_tokens":1,"completion_tokens":${n},"total_tokens":${n + 1}}`;
  const padding = "x".repeat(pad);
  const content = (i: number): string => `#${i}@${nowMs().toFixed(3)} ${padding}`;

  if (body.stream !== true) {
    const text = Array.from({ length: n }, (_, i) => content(i)).join("");
    countWrite(progress, text.length);
    const message = `{"role":"assistant","content":"${text}"}`;
    const choices = `"choices":[{"index":0,"message":${message},"finish_reason":"stop"}]`;
    res.writeHead(200, { "content-type": "application/json" });
    res.end(`${head}"object":"chat.completion",${choices},${usage}}`);
    return;
  }

  const open = `data: ${head}"object":"chat.completion.chunk","choices":`;
  const before = `${open}[{"index":0,"delta":{"content":"`;
  const after = `"},"finish_reason":null}]}\n\n`;
  const write = (text: string): boolean => {
    countWrite(progress, text.length);
    return res.write(text, "latin1");
  };
  res.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  res.flushHeaders();
  write(`${open}[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n`);

  const started = performance.now();
  let i = 0;
  const step = (): void => {
    if (progress.watch.signal.aborted) return;
    if (i === n) {
      write(`${open}[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`);
      write(`${open}[],${usage}}\n\ndata: [DONE]\n\n`);
      res.end();
      return;
    }
    const drained = write(before + content(i) + after);
    i += 1;
    if (drained) next();
    else res.once("drain", next);
  };
  const next = (): void => {
    const due = started + i * gapMs - performance.now();
    if (due >= 0.5) setTimeout(step, due);
    else setImmediate(step);
  };
  next();
}

/** JSON text in ASCII, so that the hot path may write one byte per character. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
