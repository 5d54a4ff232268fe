/** The model of the incident: it does what seems next, and learns nothing from failures. */
import type { Answer } from "../../test/support/answer-script.ts";
import { INCIDENT_STEPS, PICTURE } from "./variant.ts";

export interface Told {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

/** @param looksAgain after a failure of the format tool, instead of handing in the same text again */
export function answerTo(messages: readonly Told[], looksAgain: boolean, waitMs: number): Answer {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  if (!messages[asked]?.content.includes(PICTURE)) return { text: "Happy to help with that.", waitMs };
  const since = messages.slice(asked);
  const results = since.filter(({ role }) => role === "tool").map(({ content }) => content);
  if (results.length >= INCIDENT_STEPS - 1) return { text: "I could not do it.", waitMs };
  const text = results.map(textIn).findLast((one) => one !== null) ?? null;
  const last = since.findLast(({ tool_calls }) => tool_calls !== undefined)?.tool_calls?.[0]?.function.name;
  const look = text === null || (looksAgain && last === "format");
  const call = look
    ? { name: "ocr", arguments: { picture: "the one above" } }
    : { name: "format", arguments: { text } };
  return { toolCalls: [call], waitMs };
}

function textIn(result: string): string | null {
  const { data } = JSON.parse(result) as { data?: { text?: string } };
  return data?.text ?? null;
}
