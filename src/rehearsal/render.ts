/**
 * A move as the wire of a chat completion: stream chunks whose bounds the request decides, or one object. A fault
 * spoils it here, the way real providers do: the bytes are what is wrong, and the decoder has to see it.
 */
import type { Fault } from "./faults.ts";
import { dice, hash } from "./seed.ts";
import type { Move } from "./turn.ts";

export interface Rendering {
  readonly model: string;
  /** Text of the request: everything that varies derives from it. */
  readonly request: string;
  readonly includeUsage: boolean;
  readonly fault: Fault | null;
}

/** 2026-01-01: a clock in the answer would make every stream another one. */
const CREATED = 1_767_225_600;

export function renderStream(move: Move, { model, request, includeUsage, fault }: Rendering): string[] {
  const seed = hash(request);
  const roll = dice(seed);
  const head = {
    id: `chatcmpl-rehearsal-${seed.toString(16)}`,
    object: "chat.completion.chunk",
    created: CREATED,
    model,
  };
  const event = (more: object) => `data: ${JSON.stringify({ ...head, system_fingerprint: "scripted", ...more })}\n\n`;
  const delta = (value: object, reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: value, finish_reason: reason }] });

  const calls = fault === "truncated_args" ? (move.calls ?? [SPOILED]) : (move.calls ?? []);
  const text = fault === "empty" ? "" : move.text;
  const chunks = [
    delta({ role: "assistant", content: "" }),
    ...pieces(text, roll).map((content) => delta({ content })),
  ];
  if (fault === "error" || fault === "cut") chunks.splice(Math.ceil(chunks.length / 2) + 1);
  if (fault === "cut") return chunks;
  if (fault === "error") {
    const error = { message: "The rehearsal was told to fail here.", type: "server_error", code: "server_error" };
    return [...chunks, `data: ${JSON.stringify({ error })}\n\n`];
  }
  if (fault !== "empty") {
    for (const [index, { tool, args }] of calls.entries()) {
      const whole = JSON.stringify(args);
      const sent = fault === "truncated_args" ? whole.slice(0, Math.ceil(whole.length / 2)) : whole;
      const id = `call_${seed.toString(36)}_${index}`;
      chunks.push(delta({ tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: "" } }] }));
      for (const piece of pieces(sent, roll)) {
        chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
      }
    }
  }
  chunks.push(delta({}, finishOf(fault, calls.length)));
  if (includeUsage && fault !== "no_usage") chunks.push(event({ choices: [], usage: usageOf(request, move) }));
  return [...chunks, "data: [DONE]\n\n"];
}

const SPOILED = { tool: "create_plan", args: { title: "A title that is cut" } };

export function renderWhole(move: Move, { model, request, fault }: Rendering): object {
  const seed = hash(request);
  const calls = (move.calls ?? []).map(({ tool, args }, index) => ({
    id: `call_${seed.toString(36)}_${index}`,
    type: "function",
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const said = calls.length > 0 ? { content: move.text || null, tool_calls: calls } : { content: move.text };
  const message = { role: "assistant", ...said };
  return {
    id: `chatcmpl-rehearsal-${seed.toString(16)}`,
    object: "chat.completion",
    created: CREATED,
    model,
    system_fingerprint: "scripted",
    choices: [{ index: 0, message, finish_reason: finishOf(fault, calls.length) }],
    usage: usageOf(request, move),
  };
}

function finishOf(fault: Fault | null, calls: number): string {
  if (fault === "length") return "length";
  if (fault === "filter") return "content_filter";
  return calls > 0 && fault !== "empty" ? "tool_calls" : "stop";
}

/** One to three words, or one to four characters of a script without blanks. Never half a character. */
function pieces(text: string, roll: (bound: number) => number): string[] {
  const units =
    text.match(/[\p{Script=Han}\u3000-\u303f\uff00-\uffef]|[^\s\p{Script=Han}\u3000-\u303f\uff00-\uffef]+\s*|\s+/gu) ??
    [];
  const result: string[] = [];
  for (let at = 0; at < units.length;) {
    const count = 1 + roll(3);
    result.push(units.slice(at, at + count).join(""));
    at += count;
  }
  return result;
}

function usageOf(request: string, move: Move) {
  const prompt_tokens = Math.ceil(request.length / 4);
  const written = move.text.length + JSON.stringify(move.calls ?? []).length;
  const completion_tokens = Math.max(1, Math.ceil(written / 4));
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
