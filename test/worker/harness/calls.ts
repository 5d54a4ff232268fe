/** What became of the model's calls in one run, read from the log, and what the model was told of it. */
import type { Run } from "../../../src/protocol/run.ts";
import type { ToolResult } from "../../../src/protocol/tool-result.ts";
import { resultsIn } from "./agreement.ts";
import type { ChatRequest } from "./fakes.ts";
import type { Talk } from "./talk.ts";

export interface Call {
  readonly tool: string;
  readonly args: unknown;
}

/** Calls that were dispatched, once for each attempt, with the arguments that they had then. */
export function executed(talk: Talk, run: Run): Call[] {
  const args = new Map<string, unknown>();
  const started: Call[] = [];
  for (const event of talk.events) {
    if (event.type === "tool_call.proposed") args.set(event.data.toolCallId, event.data.args);
    if (event.type === "confirmation.decided" && event.data.args !== undefined) {
      args.set(event.data.toolCallId, event.data.args);
    }
    if (event.type !== "tool_call.started" || event.runId !== run.id) continue;
    started.push({ tool: event.data.tool, args: args.get(event.data.toolCallId) });
  }
  return started;
}

export const resultsOf = (talk: Talk, run: Run): ToolResult[] =>
  Object.values(resultsIn(talk.events.filter(({ runId }) => runId === run.id)));

/** The calls of the last message that made some, each with the answer that follows it. */
export function toldCalls(request: ChatRequest | undefined): (Call & { readonly result: Record<string, unknown> })[] {
  const { messages } = request ?? { messages: [] };
  const made = messages.findLast(({ tool_calls }) => tool_calls !== undefined);
  return (made?.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => {
    const answers = messages.filter(({ tool_call_id }) => tool_call_id === id);
    if (answers.length !== 1) throw new Error(`${id} is answered ${answers.length} times`);
    return {
      tool: name,
      args: JSON.parse(args) as unknown,
      result: JSON.parse(answers[0]?.content ?? "null") as Record<string, unknown>,
    };
  });
}

/** A model's stream out of deltas, for what no recorded stream has. */
export function streamOf(deltas: readonly object[], finishReason = "tool_calls"): string {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({
      id: "c1",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "fake-1",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  return `${deltas.map((delta) => chunk(delta, null)).join("")}${chunk({}, finishReason)}data: [DONE]\n\n`;
}
