/** A message as one reader reads it: notices get their sentence in the reader's language. Nothing of it is stored. */
import type { Message } from "./message.ts";
import { textOf, type Lang } from "./texts.ts";

export function renderMessage(message: Message, lang: Lang): Message {
  if (!message.parts.some(({ type }) => type === "notice")) return message;
  return {
    ...message,
    parts: message.parts.map((part) =>
      part.type === "notice" ? { ...part, text: textOf(`notice.${part.code}`, lang, part.params) } : part,
    ),
  };
}
