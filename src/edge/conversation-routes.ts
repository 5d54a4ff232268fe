/** Conversations: make, look, rename, archive, share. */
import { CreateConversation, PutParticipant, UpdateConversation } from "../protocol/commands.ts";
import { Conversation } from "../protocol/conversation.ts";
import { conversationIdOf } from "../protocol/ids.ts";
import { SCOPES } from "../protocol/roles.ts";
import { callActor } from "./call-actor.ts";
import { ConversationPath, ParticipantPath } from "./paths.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, userRoute, type EdgeServices, type Route } from "./route.ts";
import { runCommand } from "./run-command.ts";

const write = SCOPES.conversationsWrite;
const read = SCOPES.conversationsRead;

const THE_CONVERSATION = {
  description: "The conversation.",
  schema: Conversation,
  example: EXAMPLES.conversation,
};

export const CONVERSATION_ROUTES: readonly Route[] = [
  userRoute({
    method: "POST",
    path: "/v1/conversations",
    summary: "Create a conversation with an agent.",
    command: "create_conversation",
    scope: write,
    params: NONE,
    query: NONE,
    body: CreateConversation,
    bodyUse: "required",
    bodyExample: EXAMPLES.createConversation,
    key: "accepted",
    answers: {
      201: {
        description: "The conversation; Location names it.",
        schema: Conversation,
        example: EXAMPLES.conversation,
        location: true,
      },
    },
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
    answers: { 200: { description: "The snapshot.", schema: Conversation, example: EXAMPLES.conversation } },
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
    command: "update_conversation",
    scope: write,
    params: ConversationPath,
    query: NONE,
    body: UpdateConversation,
    bodyUse: "required",
    bodyExample: EXAMPLES.updateConversation,
    key: "none",
    answers: { 200: THE_CONVERSATION },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params, body }, edge) =>
      runCommand(edge, { context, conversationId: params.id, command: { type: "update_conversation", body } }),
  }),
  userRoute({
    method: "PUT",
    path: "/v1/conversations/:id/participants/:userId",
    summary: "Share with a person, or change their role.",
    command: "put_participant",
    scope: write,
    params: ParticipantPath,
    query: NONE,
    body: PutParticipant,
    bodyUse: "required",
    bodyExample: EXAMPLES.putParticipant,
    key: "none",
    answers: { 200: THE_CONVERSATION },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params: { id, userId }, body }, edge) =>
      runCommand(edge, { context, conversationId: id, command: { type: "put_participant", userId, body } }),
  }),
  userRoute({
    method: "DELETE",
    path: "/v1/conversations/:id/participants/:userId",
    summary: "Stop sharing with a person.",
    command: "remove_participant",
    scope: write,
    params: ParticipantPath,
    query: NONE,
    body: NO_BODY,
    bodyUse: "none",
    key: "none",
    answers: {
      204: { description: "Done.", schema: null },
    },
    problems: ["forbidden", "not_found", "gone"],
    handle: ({ context, params: { id, userId } }, edge) =>
      runCommand(edge, { context, conversationId: id, command: { type: "remove_participant", userId, body: {} } }),
  }),
];

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
