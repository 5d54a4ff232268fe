/** Conversations: make, list, look, rename, archive, share. */
import * as z from "zod";
import { CreateConversation, PutParticipant, UpdateConversation } from "../protocol/commands.ts";
import { Conversation } from "../protocol/conversation.ts";
import { ConversationSummary } from "../protocol/history.ts";
import { conversationIdOf } from "../protocol/ids.ts";
import { reject } from "../protocol/problems.ts";
import { SCOPES } from "../protocol/roles.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath, pageOf, ParticipantPath } from "./paths.ts";
import type { HistoryReader } from "./ports.ts";
import { Limit, PageCursorText } from "./query.ts";
import { NO_BODY, NONE, ok, userRoute, type EdgeServices, type Route } from "./route.ts";
import { runCommand } from "./run-command.ts";

const write = SCOPES.conversationsWrite;
const read = SCOPES.conversationsRead;

export const CONVERSATION_ROUTES: readonly Route[] = [
  userRoute({
    method: "POST",
    path: "/v1/conversations",
    summary: "Create a conversation with an agent.",
    scope: write,
    params: NONE,
    query: NONE,
    body: CreateConversation,
    bodyUse: "required",
    key: "accepted",
    answers: { 201: { description: "The conversation; Location names it.", schema: Conversation } },
    problems: ["idempotency_key_reused", "idempotency_in_progress"],
    handle: async ({ context, body, key }, edge) =>
      runCommand(edge, {
        context,
        conversationId: await newConversationId(edge, context.tenantId, key),
        command: { type: "create_conversation", body },
        key,
        location: ({ id }) => `/v1/conversations/${id}`,
      }),
  }),
  userRoute({
    method: "GET",
    path: "/v1/conversations/:id",
    summary: "A conversation's snapshot.",
    scope: read,
    params: ConversationPath,
    query: NONE,
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: { 200: { description: "The snapshot.", schema: Conversation } },
    problems: ["not_found", "gone"],
    handle: async ({ context, params: { id } }, edge) => {
      const ask = { context, conversationId: id, repeatable: true };
      const found = await callActor(edge, { ...ask, ask: (actor) => actor.snapshot(context, id) });
      return found.ok ? ok(200, found.value) : found;
    },
  }),
  userRoute({
    method: "PATCH",
    path: "/v1/conversations/:id",
    summary: "Rename or archive.",
    scope: write,
    params: ConversationPath,
    query: NONE,
    body: UpdateConversation,
    bodyUse: "required",
    key: "none",
    answers: { 200: { description: "The conversation.", schema: Conversation } },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params, body }, edge) =>
      runCommand(edge, { context, conversationId: params.id, command: { type: "update_conversation", body } }),
  }),
  userRoute({
    method: "PUT",
    path: "/v1/conversations/:id/participants/:userId",
    summary: "Share with a person, or change their role.",
    scope: write,
    params: ParticipantPath,
    query: NONE,
    body: PutParticipant,
    bodyUse: "required",
    key: "none",
    answers: { 200: { description: "The conversation.", schema: Conversation } },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params: { id, userId }, body }, edge) =>
      runCommand(edge, { context, conversationId: id, command: { type: "put_participant", userId, body } }),
  }),
  userRoute({
    method: "DELETE",
    path: "/v1/conversations/:id/participants/:userId",
    summary: "Stop sharing with a person.",
    scope: write,
    params: ParticipantPath,
    query: NONE,
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: {
      200: { description: "The conversation.", schema: Conversation },
      204: { description: "Done.", schema: null },
    },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params: { id, userId } }, edge) =>
      runCommand(edge, { context, conversationId: id, command: { type: "remove_participant", userId, body: {} } }),
  }),
];

/** Absent where there is no history to read. */
export const conversationListRoute = (history: HistoryReader): Route =>
  userRoute({
    method: "GET",
    path: "/v1/conversations",
    summary: "My conversations and those shared with me. A projection: each row says to which event it has come.",
    scope: read,
    params: NONE,
    query: z.object({
      q: z.string().min(1).max(256).optional(),
      agent: z.string().min(1).max(64).optional(),
      limit: Limit,
      order: z.enum(["asc", "desc"]).default("desc"),
      cursor: PageCursorText,
    }),
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: { 200: { description: "A page, newest first.", schema: pageOf(ConversationSummary) } },
    problems: ["cursor_invalid", "history_unavailable"],
    handle: async ({ context, trace, query: { q, agent, limit, order, cursor } }, edge) => {
      const { tenantId, userId } = context;
      const binding = ["conversations", tenantId, userId, order, q ?? "", agent ?? ""];
      const after = cursor === undefined ? null : await edge.cursors.open(cursor, binding);
      if (after?.ok === false) return after;
      try {
        const page = await history.list(tenantId, userId, {
          limit,
          order,
          ...(q === undefined ? {} : { q }),
          ...(agent === undefined ? {} : { agent }),
          ...(after === null ? {} : { after: after.value }),
        });
        if (!page.ok) return page;
        const { data, nextCursor } = page.value;
        return ok(200, { data, nextCursor: nextCursor === null ? null : await edge.cursors.seal(nextCursor, binding) });
      } catch (error) {
        edge.log.error("history_unreadable", error, { requestId: trace.requestId });
        const detail = "Lists cannot be read now; conversations themselves can.";
        return { ok: false, rejection: reject("history_unavailable", detail, { retryAfterMs: 5_000 }) };
      }
    },
  });

/**
 * 16 bytes: random, or made of tenant and key, so that a retry reaches the actor that has the receipt. The user is not
 * part of it: another user's request with the same key must meet that receipt too, and be refused.
 */
async function newConversationId(edge: EdgeServices, tenantId: string, key: string | undefined): Promise<string> {
  const bytes =
    key === undefined
      ? crypto.getRandomValues(new Uint8Array(16))
      : (await edge.conversationIds.sign([tenantId, key])).subarray(0, 16);
  return conversationIdOf(bytes);
}
