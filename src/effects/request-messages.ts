/** Single messages of a chat-completions request, encoded. */
import type { Message } from "../protocol/message.ts";
import { textOf, type Lang } from "../protocol/texts.ts";
import { encodeJson } from "./request-json.ts";

type Payloads = (digest: string) => string | null;

export interface EncodedCall {
  /** The nine characters that the model sees. */
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly args: string;
}

export const systemMessage = (content: string): string => encodeJson({ role: "system", content });
export const userMessage = (content: string): string => encodeJson({ role: "user", content });
export const toolMessage = (id: string, content: string): string =>
  encodeJson({ role: "tool", tool_call_id: id, content });

/** `content` is null and not absent where there are only calls: DeepSeek and older vLLM want the member. */
export function assistantMessage(content: string, calls: readonly EncodedCall[] = []): string {
  if (calls.length === 0) return encodeJson({ role: "assistant", content });
  const tool_calls = calls.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: args } }));
  return encodeJson({ role: "assistant", content: content === "" ? null : content, tool_calls });
}

/**
 * A name that every API takes back: a model invents names, OpenAI refuses a whole history for one character.
 * What the name stood for is in the call's result.
 */
export function functionName(name: string): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return clean === "" ? "unnamed" : clean;
}

/** The text of a message as the model reads it: excerpts whole, notices as the sentence that the user was shown. */
export function messageText(message: Message, lang: Lang, payload: Payloads): string {
  const texts = message.parts.map((part): string => {
    switch (part.type) {
      case "text":
        return (part.excerptOf && payload(part.excerptOf.digest)) ?? part.text;
      case "notice":
        return textOf(`notice.${part.code}`, lang, part.params);
      case "image":
      case "file":
        return `[${part.type}: ${part.alt ?? part.mediaType}]`;
      case "reasoning":
        return "";
    }
  });
  return texts.filter((text) => text !== "").join("\n\n");
}
