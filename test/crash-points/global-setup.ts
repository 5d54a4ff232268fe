/** As for the other Worker tests; but what the model says follows from the message alone, however often it is asked. */
import type { TestProject } from "vitest/node";
import { answerOf, readRequest } from "../../rigs/crash/script.ts";
import type { Answer, ToolCallsAnswer } from "../support/answer-script.ts";
import { startFakeBackend } from "../support/fake-backend.ts";
import { startFakeProvider } from "../support/fake-provider.ts";

/** Between two writes of an answer, so that a preview is seen and saved before the end. */
const PACE_MS = 4;
const PREAMBLE = "This will take a moment, and I will tell you when it is done.";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await startFakeProvider({
    respond: (_scope, body) => {
      const asked = readRequest(body);
      if (!asked) return undefined;
      const answer = answerOf(asked.script, asked.step, PACE_MS);
      const isSlow = "toolCalls" in answer && answer.toolCalls.some(({ name }) => name === "slow_lookup");
      return isSlow ? wordByWord(answer) : answer;
    },
  });
  const backend = await startFakeBackend({ dedup: false });
  project.provide("modelProvider", provider.url);
  project.provide("labBackend", backend.url);
  return async () => {
    await provider.close();
    await backend.close();
  };
}

/** Words before calls, so that the model says something before its first call is there. */
function wordByWord({ toolCalls }: ToolCallsAnswer): Answer {
  const call = ({ name, arguments: args }: ToolCallsAnswer["toolCalls"][number], index: number) => ({
    index,
    id: `c${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args ?? {}) },
  });
  const events = [
    ...PREAMBLE.split(/(?<= )/).map((content) => chunk({ content }, null)),
    chunk({ tool_calls: toolCalls.map(call) }, null),
    chunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ];
  let at = 0;
  const splitAt = events.slice(0, -1).map((event) => (at += event.length));
  return { raw: events.join(""), splitAt, delaysMs: events.map(() => PACE_MS) };
}

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "fake-1",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
