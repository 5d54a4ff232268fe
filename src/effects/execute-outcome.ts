/**
 * From what a tool said to what the core is told. `failed` is only for proof: a tool that says nothing clear, or something
 * that cannot be read, may have acted.
 */
import type { Payload } from "../actor/ports.ts";
import { langOf } from "../protocol/texts.ts";
import type { ToolError } from "../protocol/tool-result.ts";
import type { ToolAnswer } from "../run/inputs.ts";
import type { Tool } from "../tools/define-tool.ts";
import { AmbiguousOutcome } from "../tools/outcome.ts";
import { plainJson } from "./tool-plain-json.ts";
import { scrubSecrets } from "./tool-scrub.ts";
import { doneText, failedResult, ownError, succeededResult, toolError, type CallRef } from "./tool-result.ts";

export interface Answered {
  readonly result: ToolAnswer;
  readonly payloads: readonly Payload[];
}

export interface Outcomes {
  readonly tool: Tool<unknown>;
  readonly ref: CallRef;
  /** Removed from every sentence that comes out. */
  readonly secrets: readonly string[];
  readonly source: "tool" | "probe";
}

type Reason = Extract<ToolAnswer, { kind: "ambiguous" }>["reason"];

/** @param said what `execute` or a probe returned, of whatever shape */
export async function answerOf(of: Outcomes, said: unknown): Promise<Answered> {
  const outcome = membersOf(said);
  switch (outcome["kind"]) {
    case "ok":
      return succeeded(of, outcome);
    case "failed":
      return failed(of, outcome);
    default:
      return broken(of, "tool_contract_violated");
  }
}

async function succeeded(of: Outcomes, outcome: Readonly<Record<string, unknown>>): Promise<Answered> {
  const plain = plainJson(outcome["data"]);
  if (!plain.ok) return broken(of, "output_invalid", `It is no plain JSON: ${plain.detail}.`);
  const parsed = parse(of.tool, plain.value);
  if (parsed === null) return broken(of, "output_invalid");
  const value = scrubbed(parsed.value, of.secrets);
  const text = scrubSecrets(displayOf(of.tool, of.ref, value, outcome["displayText"]), of.secrets);
  const { payload, payloads } = await succeededResult(of.ref, value, text, of.source);
  return { result: { kind: "ok", payload }, payloads };
}

/** What a backend echoes of a credential must not reach the log, the history or the next prompt. */
function scrubbed(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return scrubSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, scrubbed(member, secrets)]));
}

function parse(tool: Tool<unknown>, value: unknown): { readonly value: unknown } | null {
  try {
    const parsed = tool.output.safeParse(value);
    const plain = parsed.success ? plainJson(parsed.data) : null;
    return plain?.ok ? { value: plain.value } : null;
  } catch {
    return null;
  }
}

function failed(of: Outcomes, outcome: Readonly<Record<string, unknown>>): Answered {
  const sent = outcome["sent"];
  if (sent !== false && sent !== "definitive") return broken(of, "tool_contract_violated");
  const error = errorOf(outcome["error"], of.secrets);
  return refusedWith(of, error, sent === false ? "not_sent" : "definitive");
}

export function refusedWith(of: Outcomes, error: ToolError, proof: "not_sent" | "definitive"): Answered {
  return { result: { kind: "failed", payload: failedResult(of.ref, error), proof }, payloads: [] };
}

/** An answer that proves nothing about a side effect; a read has failed. Asking again would break the same way. */
function broken(of: Outcomes, code: "tool_contract_violated" | "output_invalid", detail?: string): Answered {
  const error = ownError(code, { layer: "tool", ...(detail === undefined ? {} : { detail }) });
  if (of.tool.effect === "read") return refusedWith(of, error, "definitive");
  return ambiguousWith(of, error, "ambiguous", false);
}

export function ambiguousWith(of: Outcomes, error: ToolError, reason: Reason, repeatable = true): Answered {
  const payload = failedResult(of.ref, error);
  return { result: { kind: "ambiguous", error, payload, reason, repeatable }, payloads: [] };
}

/** A throw proves nothing. What was thrown goes to the log; of it, only a declared failure is told. */
export function thrown(of: Outcomes, error: unknown): Answered {
  const failure = failureOf(error);
  const told =
    failure === null ? ownError("tool_failed", { layer: "tool", retryable: true }) : errorOf(failure, of.secrets);
  return ambiguousWith(of, told, "ambiguous");
}

function failureOf(error: unknown): unknown {
  try {
    return error instanceof AmbiguousOutcome ? error.failure : null;
  } catch {
    return null;
  }
}

function errorOf(failure: unknown, secrets: readonly string[]): ToolError {
  const plain = plainJson(failure);
  return toolError(membersOf(plain.ok ? plain.value : null), secrets);
}

/** Its members, read once; of anything else, and where reading throws, none. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  try {
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** For people, in the user's language: the tool's own sentence, or that it is done. */
export function displayOf(tool: Tool<unknown>, ref: CallRef, data: unknown, said: unknown): string {
  const lang = langOf(ref.locale);
  try {
    const text: unknown = tool.display?.(data, lang) ?? said;
    if (typeof text === "string" && text.trim() !== "") return text;
  } catch {
    // A sentence is not worth an outcome.
  }
  return doneText(ref, lang);
}
