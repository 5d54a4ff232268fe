/**
 * Refuses what a strict provider refuses, so that a history that would break with a real one breaks here first: an
 * unanswered call, a result without its call, arguments that are no object, lone surrogates, an unknown model.
 */
import { isObject, parseJson, type JsonObject } from "./json.ts";

export interface Complaint {
  readonly status: 400 | 404;
  readonly code: string;
  readonly param: string;
  readonly message: string;
}
export type Checked = { readonly ok: true; readonly body: JsonObject } | ({ readonly ok: false } & Complaint);

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool"]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @param text of the body @param model the only one there is */
export function checkRequest(text: string, model: string): Checked {
  const body = parseJson(text);
  if (!isObject(body)) return refuse("invalid_json", "body", "The body is not a JSON object.");
  if (hasLoneSurrogate(text, body)) return refuse("lone_surrogate", "body", "A string holds half a surrogate pair.");
  if (typeof body["model"] !== "string" || body["model"] === "") return refuse("invalid_shape", "model", "No model.");
  if (body["model"] !== model) {
    return { ok: false, status: 404, code: "model_not_found", param: "model", message: `There is only "${model}".` };
  }
  const complaint = checkTools(body["tools"]) ?? checkMessages(body["messages"]);
  return complaint ?? { ok: true, body };
}

type Refused = Extract<Checked, { ok: false }>;
const refuse = (code: string, param: string, message: string): Refused => ({
  ok: false,
  status: 400,
  code,
  param,
  message,
});

function hasLoneSurrogate(text: string, body: JsonObject): boolean {
  if (!text.isWellFormed()) return true;
  // Only an escape can bring one in; most bodies have none, and are not walked.
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false;
  const stack: unknown[] = [body];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (typeof value === "string" && !value.isWellFormed()) return true;
    if (Array.isArray(value)) stack.push(...value);
    else if (isObject(value)) for (const [key, member] of Object.entries(value)) stack.push(key, member ?? 0);
  }
  return false;
}

function checkTools(tools: unknown): Refused | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools) || tools.length === 0) return refuse("invalid_shape", "tools", "An empty list of tools.");
  for (const [i, tool] of tools.entries()) {
    const fn: unknown = isObject(tool) && tool["type"] === "function" ? tool["function"] : null;
    const fine = isObject(fn) && NAME.test(String(fn["name"])) && isObject(fn["parameters"]);
    if (!fine) return refuse("invalid_shape", `tools[${i}]`, "A tool needs type, name and parameters.");
  }
  return null;
}

function checkMessages(messages: unknown): Refused | null {
  if (!Array.isArray(messages) || messages.length === 0) return refuse("invalid_shape", "messages", "No messages.");
  /** Ids of the last assistant message that are not answered yet. */
  let open = new Set<string>();
  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}]`;
    if (!isObject(message) || !ROLES.has(message["role"]))
      return refuse("invalid_shape", `${at}.role`, "No known role.");
    if (message["role"] === "tool") {
      const id = message["tool_call_id"];
      if (typeof id !== "string" || !open.delete(id)) {
        return refuse("tool_message_without_call", `${at}.tool_call_id`, "No call directly before waits for this.");
      }
      if (typeof message["content"] !== "string") return refuse("invalid_shape", `${at}.content`, "No content.");
      continue;
    }
    if (open.size > 0) return refuse("tool_call_unanswered", at, "A tool call before it is not answered.");
    if (message["role"] !== "assistant") {
      if (typeof message["content"] !== "string") return refuse("invalid_shape", `${at}.content`, "No content.");
      continue;
    }
    const ids = idsOf(message, at);
    if ("ok" in ids) return ids;
    open = ids;
  }
  if (open.size > 0) return refuse("tool_call_unanswered", "messages", "The last tool calls are not answered.");
  const last: unknown = messages.at(-1);
  const ends = isObject(last) && last["role"] === "assistant";
  return ends ? refuse("invalid_shape", "messages", "The last message is the assistant's own.") : null;
}

function idsOf(message: JsonObject, at: string): Set<string> | Refused {
  const { content, tool_calls: calls } = message;
  const ids = new Set<string>();
  if (calls === undefined) {
    return typeof content === "string" ? ids : refuse("invalid_shape", `${at}.content`, "Neither content nor calls.");
  }
  if (!Array.isArray(calls) || calls.length === 0) return refuse("invalid_shape", `${at}.tool_calls`, "No calls.");
  for (const [i, call] of calls.entries()) {
    const where = `${at}.tool_calls[${i}]`;
    const fn: unknown = isObject(call) ? call["function"] : null;
    if (!isObject(call) || !isObject(fn) || call["type"] !== "function" || !NAME.test(String(fn["name"]))) {
      return refuse("invalid_shape", where, "A tool call needs type, name and arguments.");
    }
    const { id } = call;
    if (typeof id !== "string" || id === "" || id.length > 40)
      return refuse("tool_call_id_empty", where, "No usable id.");
    if (ids.has(id)) return refuse("tool_call_id_duplicate", where, "The id is used twice.");
    const args = fn["arguments"];
    if (typeof args !== "string" || !isObject(parseJson(args))) {
      return refuse("tool_arguments_invalid", where, "The arguments are not the JSON text of an object.");
    }
    ids.add(id);
  }
  return ids;
}
