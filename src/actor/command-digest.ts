/** The identity of a request: the same over REST and WebSocket, whatever the order of its members (RFC 8785). */
import { canonicalJson } from "../protocol/canonical-json.ts";
import type { Command } from "../protocol/commands.ts";

/** The text whose SHA-256 is the digest. The user is part of it: a key never answers another person's request. */
export function commandText(conversationId: string, command: Command, userId: string): string {
  const { type, body, ...target } = command;
  return canonicalJson({ command: type, target: { conversationId, ...target }, body, userId });
}
