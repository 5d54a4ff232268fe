/** The tables that hold what the history has of a conversation, in an order in which rows can be taken away. */
export const CONVERSATION_TABLES = [
  "search_docs",
  "messages",
  "confirmations",
  "tool_calls",
  "runs",
  "participants",
  "holes",
  "conversations",
] as const;
