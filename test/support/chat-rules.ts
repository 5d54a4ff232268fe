/**
 * The rules that a strict OpenAI-compatible provider applies to a chat-completions request, as one pure function.
 *
 * Real providers refuse a history that is broken in any of these ways, and then refuse every later turn of the same
 * conversation too. Checking all of it on each request turns such a slow poisoning into a failure of the test at hand.
 *
 * Deliberately not checked: whether tool messages come in call order (providers do not care), whether a call id
 * is used again in a later message (allowed), and what escapes *inside* an arguments text decode to (it is opaque text).
 */
import { isJsonObject, type JsonObject } from "./json.ts";

export type ViolationCode =
  | "invalid_utf8"
  | "invalid_json"
  | "lone_surrogate"
  | "invalid_shape"
  | "tool_call_unanswered"
  | "tool_call_answered_twice"
  | "tool_message_without_call"
  | "tool_call_id_duplicate"
  | "tool_call_id_empty"
  | "tool_arguments_invalid";

/** `param` says where, for example `messages[2].tool_calls[0].id`. */
export type Violation = { readonly code: ViolationCode; readonly param: string; readonly message: string };

type Report = (code: ViolationCode, param: string, message: string) => void;

/** `body` is undefined when it is no JSON object. `scope` is the model name, recovered even from a broken body. */
export type Inspected = {
  readonly body: JsonObject | undefined;
  readonly scope: string;
  readonly violations: readonly Violation[];
};

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

/** Decodes a request body and lists everything that is wrong with it. */
export function inspectChatRequest(bytes: Uint8Array): Inspected {
  const violations: Violation[] = [];
  const report: Report = (code, param, message) => violations.push({ code, param, message });
  const text = decode(bytes, report);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    report("invalid_json", "body", "the body is not valid JSON");
    return { body: undefined, scope: /"model"\s*:\s*"([^"\\]*)"/.exec(text)?.[1] ?? "", violations };
  }
  if (!isJsonObject(body)) {
    report("invalid_json", "body", "the body is not a JSON object");
    return { body: undefined, scope: "", violations };
  }
  checkSurrogates(text, body, report);
  const { model, messages } = body;
  if (typeof model !== "string" || model === "") report("invalid_shape", "model", "model is missing");
  if (Array.isArray(messages) && messages.length > 0) checkMessages(messages, report);
  else report("invalid_shape", "messages", "messages must be a non-empty array");
  return { body, scope: typeof model === "string" ? model : "", violations };
}

function decode(bytes: Uint8Array, report: Report): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    report("invalid_utf8", "body", "the body is not valid UTF-8");
    return new TextDecoder("utf-8").decode(bytes);
  }
}

/** Text decoded from UTF-8 holds no lone surrogate, so only an escape can bring one in; most bodies have none. */
function checkSurrogates(text: string, body: JsonObject, report: Report): void {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return;
  // An explicit stack, because a hostile body may nest deeper than the call stack reaches.
  const stack: [path: string, value: unknown][] = [["", body]];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [path, value] = top;
    if (typeof value === "string" && !value.isWellFormed()) {
      report("lone_surrogate", path, "a string holds an unpaired surrogate");
    } else if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) stack.push([`${path}[${i}]`, value[i]]);
    } else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value).toReversed()) {
        if (!key.isWellFormed()) report("lone_surrogate", path || "body", "a member name holds an unpaired surrogate");
        stack.push([path ? `${path}.${key}` : key, member]);
      }
    }
  }
}

function checkMessages(messages: readonly unknown[], report: Report): void {
  /** Calls of the assistant message whose answers are being read: id → how often it was answered. */
  let open = new Map<string, number>();
  let openAt = "";
  const closeBatch = (): void => {
    for (const [id, answers] of open) {
      if (answers === 0) report("tool_call_unanswered", openAt, `tool call "${id}" is not answered directly after it`);
    }
    open = new Map();
  };
  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}]`;
    if (!isJsonObject(message) || !ROLES.has(message.role)) {
      report("invalid_shape", `${at}.role`, "a message needs a known role");
      closeBatch();
    } else if (message.role === "tool") {
      checkToolMessage(message, at, open, report);
    } else {
      closeBatch();
      openAt = `${at}.tool_calls`;
      if (message.role === "assistant") open = checkAssistant(message, at, report);
      else if (isAbsent(message.content)) report("invalid_shape", `${at}.content`, "a message needs content");
    }
  }
  closeBatch();
}

function checkToolMessage(message: JsonObject, at: string, open: Map<string, number>, report: Report): void {
  const id = message.tool_call_id;
  if (isAbsent(message.content)) report("invalid_shape", `${at}.content`, "a tool message needs content");
  const answers = typeof id === "string" ? open.get(id) : undefined;
  if (typeof id !== "string" || answers === undefined) {
    const what = `no tool call directly before has the id ${JSON.stringify(id)}`;
    report("tool_message_without_call", `${at}.tool_call_id`, what);
    return;
  }
  open.set(id, answers + 1);
  if (answers > 0) report("tool_call_answered_twice", `${at}.tool_call_id`, `tool call "${id}" is answered again`);
}

/** Checks one assistant message and returns the calls that must be answered next. */
function checkAssistant(message: JsonObject, at: string, report: Report): Map<string, number> {
  const open = new Map<string, number>();
  const calls = message.tool_calls;
  if (isAbsent(calls)) {
    const says = !isAbsent(message.content) || message.function_call || message.refusal;
    if (!says) report("invalid_shape", `${at}.content`, "an assistant message needs content or tool calls");
    return open;
  }
  if (!Array.isArray(calls) || calls.length === 0) {
    report("invalid_shape", `${at}.tool_calls`, "tool_calls must be a non-empty array");
    return open;
  }
  for (const [i, call] of calls.entries()) checkCall(call, `${at}.tool_calls[${i}]`, open, report);
  return open;
}

function checkCall(call: unknown, where: string, open: Map<string, number>, report: Report): void {
  if (!isJsonObject(call) || !isJsonObject(call.function)) {
    report("invalid_shape", where, "a tool call needs a function");
    return;
  }
  const { id, type, function: called } = call;
  if (type !== "function") report("invalid_shape", `${where}.type`, 'the type of a tool call must be "function"');
  if (typeof called.name !== "string" || called.name === "") {
    report("invalid_shape", `${where}.function.name`, "the function needs a name");
  }
  if (typeof id !== "string" || id === "") {
    report("tool_call_id_empty", `${where}.id`, "the tool call has no id");
  } else if (open.has(id)) {
    report("tool_call_id_duplicate", `${where}.id`, `the id "${id}" is used twice in one message`);
  } else {
    open.set(id, 0);
  }
  if (!isJsonObjectText(called.arguments)) {
    report("tool_arguments_invalid", `${where}.function.arguments`, "arguments must be the JSON text of an object");
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isJsonObjectText(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
