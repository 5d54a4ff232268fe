/** The questions that a call can ask, and the body that the person's answer makes. Sends nothing itself. */
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import { argsOf } from "./card.ts";
import type { Ask } from "./input.ts";
import type { Words } from "./words.ts";

export interface Asking {
  readonly ask: Ask;
  readonly line: (text: string) => void;
  readonly words: Words;
  /** Aborted when the call needs no answer any more: it was decided elsewhere, or its run has been stopped. */
  readonly withdrawn: AbortSignal;
}

/** @returns null when there is no answer: the input has ended, or the question was withdrawn */
export const answerOf = (call: ToolCall, asking: Asking) =>
  call.state === "unknown" ? resolutionOf(call, asking) : decisionOf(call, asking);

async function decisionOf(call: ToolCall, { ask, line, words, withdrawn }: Asking) {
  const { id: toolCallId, argsDigest } = call;
  for (;;) {
    const choice = (await ask(words.choices, withdrawn))?.trim().toLowerCase();
    if (choice === undefined) return null;
    if (choice.startsWith("a")) return { decisions: [{ toolCallId, argsDigest, decision: "approve" as const }] };
    if (choice.startsWith("r")) {
      const reason = await ask(words.reasonPrompt, withdrawn);
      if (reason === null) return null;
      const said = reason.trim() ? { reason: reason.trim() } : {};
      return { decisions: [{ toolCallId, argsDigest, decision: "reject" as const, ...said }] };
    }
    if (!choice.startsWith("e")) continue;
    line(JSON.stringify(argsOf(call)));
    const typed = await ask(words.editPrompt, withdrawn);
    if (typed === null) return null;
    const args = parseObject(typed);
    if (args) return { decisions: [{ toolCallId, argsDigest, decision: "edit" as const, args }] };
    line(words.notJson);
  }
}

async function resolutionOf({ id: toolCallId, argsDigest, attempt }: ToolCall, { ask, words, withdrawn }: Asking) {
  for (;;) {
    const choice = (await ask(words.unknownChoices, withdrawn))?.trim().toLowerCase();
    if (choice === undefined) return null;
    if (choice.startsWith("y")) return { resolutions: [{ toolCallId, attempt, outcome: "happened" as const }] };
    if (choice.startsWith("n"))
      return { resolutions: [{ toolCallId, attempt, outcome: "did_not_happen" as const, argsDigest }] };
    if (choice.startsWith("g")) return { resolutions: [{ toolCallId, attempt, outcome: "give_up" as const }] };
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
