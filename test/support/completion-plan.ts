/** Plans a well-formed completion, streamed or in one piece, as the request asked for it. */
import type { TextAnswer, ToolCallsAnswer, Usage } from "./answer-script.ts";
import { SSE_HEADERS, inOnePiece, type Draft, type PlanContext } from "./plan.ts";

type Call = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export function completionPlan(answer: TextAnswer | ToolCallsAnswer, context: PlanContext): Draft {
  const { body, bodyBytes, serial } = context;
  const calls = "toolCalls" in answer ? callsOf(answer, serial) : [];
  const text = answer.text ?? "";
  const head = { id: `chatcmpl-fake-${serial}`, created: Math.floor(Date.now() / 1000), model: body.model };
  const finishReason = answer.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop");
  const written = calls.reduce((sum, call) => sum + call.function.arguments.length, text.length);
  const usage = answer.usage === false ? null : usageOf(answer.usage, bodyBytes, written);
  const kind = "toolCalls" in answer ? "toolCalls" : "text";

  if (body.stream !== true) {
    const content = text === "" && calls.length > 0 ? null : text;
    const message = { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    const whole = { ...head, object: "chat.completion", choices, ...(usage === null ? {} : { usage }) };
    return { kind, ...inOnePiece(Buffer.from(JSON.stringify(whole), "utf8"), "application/json", {}, answer.delayMs) };
  }

  const event = (choices: unknown[], more = {}) => ({ ...head, object: "chat.completion.chunk", choices, ...more });
  const delta = (value: unknown, reason: string | null = null) =>
    event([{ index: 0, delta: value, finish_reason: reason }]);
  const asked =
    typeof body.stream_options === "object" && JSON.stringify(body.stream_options).includes('"include_usage":true');
  const events = [
    delta({ role: "assistant", content: "" }),
    ...piecesOf(answer).map((content) => delta({ content })),
    ...calls.flatMap(callDeltas).map((entry) => delta({ tool_calls: [entry] })),
    delta({}, finishReason),
    ...(usage !== null && (answer.usage || asked) ? [event([], { usage })] : []),
  ];
  const writes = events.map((value) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`, "utf8"));
  writes.push(Buffer.from("data: [DONE]\n\n"));
  const delays = writes.map(() => answer.delayMs ?? 0);
  return { kind, status: 200, headers: SSE_HEADERS, writes, delays, end: { mode: "close" } };
}

function callsOf(answer: ToolCallsAnswer, serial: number): Call[] {
  return answer.toolCalls.map((call, i) => {
    const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    return { id: call.id ?? `call_${serial}_${i}`, type: "function", function: { name: call.name, arguments: args } };
  });
}

function piecesOf(answer: TextAnswer | ToolCallsAnswer): string[] {
  if ("toolCalls" in answer) return answer.text ? [answer.text] : [];
  return answer.chunks ? evenPieces(answer.text, answer.chunks) : words(answer.text);
}

/** A head without arguments, then the arguments in two pieces. */
function callDeltas(call: Call, index: number): unknown[] {
  const head = { index, ...call, function: { name: call.function.name, arguments: "" } };
  return [head, ...evenPieces(call.function.arguments, 2).map((piece) => ({ index, function: { arguments: piece } }))];
}

/** Four bytes to a token is close enough for budgets and limits, and the same on every run. */
function usageOf(given: Usage | undefined, bodyBytes: number, written: number): Usage {
  const prompt = given?.prompt_tokens ?? Math.ceil(bodyBytes / 4);
  const completion = given?.completion_tokens ?? Math.max(1, Math.ceil(written / 4));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...given };
}

/** Words with the blanks around them; joined they are the text again. */
function words(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text]);
}

/** Cuts by code points, so that no piece ends inside a surrogate pair. Never makes empty pieces. */
function evenPieces(text: string, count: number): string[] {
  const points = Array.from(text);
  const edge = (i: number): number => Math.floor((i * points.length) / count);
  return Array.from({ length: count }, (_, i) => points.slice(edge(i), edge(i + 1)).join("")).filter((piece) => piece);
}
