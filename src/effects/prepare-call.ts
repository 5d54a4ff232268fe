/**
 * One call, from the model's text to what the core may take. Whatever goes wrong is a refusal with a code and a clean
 * sentence for the model; nothing is repaired, and nothing throws.
 */
import type { Clock, Log } from "../actor/ports.ts";
import { langOf } from "../protocol/texts.ts";
import type { OwnToolErrorCode, ToolError } from "../protocol/tool-result.ts";
import type { PreparedCall, PreparedRefusal } from "../run/inputs.ts";
import type { Tool, ToolContext } from "../tools/define-tool.ts";
import { effectOf } from "../tools/describe-tool.ts";
import { argsDigest } from "./digests.ts";
import { outsideKey } from "./outside-key.ts";
import { readArgs } from "./prepare-args.ts";
import { gateOf } from "./prepare-policy.ts";
import { shownArgs, shownOf, type Shown } from "./prepare-preview.ts";
import type { DecodedToolCall } from "./stream/decoded-answer.ts";
import { parseArgs } from "./strict-json.ts";
import { mayUse, type CatalogueEntry } from "./tool-catalogue.ts";
import { fingerprintOf } from "./tool-fingerprint.ts";
import { race } from "./tool-race.ts";
import { failedResult, ownError, toolError, type CallRef } from "./tool-result.ts";
import type { ToolSettings } from "./tool-settings.ts";

export interface PreparePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: ToolSettings;
  /** For the keys under which the outside knows a call. */
  readonly key: CryptoKey;
}

export interface Preparing {
  readonly entry: CatalogueEntry;
  readonly ctx: ToolContext;
  readonly maxToolMs: number;
  readonly signal: AbortSignal;
}

const PROVIDER_ID_CHARS = 200;

export async function prepareCall(ports: PreparePorts, at: Preparing, call: DecodedToolCall): Promise<PreparedCall> {
  const { ctx } = at;
  const tool = at.entry.tools.get(call.name);
  const parsed = parseArgs(call.arguments);
  const modelArgs = parsed.ok ? parsed.value : {};
  const refuse = async (error: ToolError, args: unknown = parsed.ok ? parsed.value : call.arguments) =>
    refusalOf(ctx, call, tool, error, { modelArgs, fingerprint: await fingerprintOf(nameOf(call.name), args) });

  if (!tool) return refuse(ownError("unknown_tool"));
  if (!mayUse(tool, ctx.scopes)) return refuse(ownError("scope_missing", { detail: `It lacks ${tool.scope ?? ""}.` }));
  if (!parsed.ok) return refuse(ownError("invalid_arguments", { detail: parsed.detail }));
  const read = readArgs(tool, parsed.value, ctx);
  if (!read.ok) return refuse(ownError("invalid_arguments", { detail: read.detail }));
  const { args } = read;
  const gate = gateOf(ports, at.entry.agent, tool, args, ctx);
  const seen = await see(ports, at, tool, args, gate !== null);
  if (!seen.ok) return refuse(seen.error, args);

  const digest = (await at.entry.toolDigest(tool.name)) ?? "";
  const { expect } = seen;
  const expected = expect === undefined ? {} : { expect };
  return {
    kind: "ready",
    tool: tool.name,
    title: tool.title[langOf(ctx.locale)],
    effect: effectOf(tool),
    args,
    ...(read.changed ? { modelArgs } : {}),
    argsDigest: await argsDigest({
      toolCallId: ctx.toolCallId,
      tool: tool.name,
      toolDigest: digest,
      args,
      ...expected,
    }),
    toolDigest: digest,
    ...expected,
    gate,
    ...(seen.preview === undefined ? {} : { preview: seen.preview }),
    idempotencyKey: await outsideKey(ports.key, ctx),
    ...(tool.scope === undefined ? {} : { scope: tool.scope }),
    fingerprint: await fingerprintOf(tool.name, args),
    timeoutMs: Math.max(1, Math.min(tool.timeoutMs ?? at.maxToolMs, at.maxToolMs)),
    dedupeWindowMs: tool.dedupeWindowMs ?? ports.settings.dedupeWindowMs,
    answersForKey: tool.answersForKey ?? false,
    reversible: tool.reversible ?? false,
    ...(tool.undo === undefined ? {} : { undo: tool.undo }),
    ...providerIdOf(call),
  };
}

export type Seen =
  | ({ readonly ok: true } & Partial<Pick<Extract<Shown, { ok: true }>, "preview" | "expect">>)
  | { readonly ok: false; readonly error: ToolError };

/** May this user do this here, and what will happen? Both ask the tool, so both stand under one clock. */
export async function see(
  ports: PreparePorts,
  at: Preparing,
  tool: Tool<unknown>,
  args: unknown,
  gated: boolean,
): Promise<Seen> {
  const { ctx, entry, signal } = at;
  const { clock, log, settings } = ports;
  const limits = { clock, ms: settings.previewMs, signal, settleMs: settings.abortSettleMs };
  const failed = (code: OwnToolErrorCode, detail: string, retryable = true): Seen => ({
    ok: false,
    error: ownError(code, { detail, retryable }),
  });
  const raced = await race(limits, async (inner) => {
    const call = { ctx, deps: entry.deps, signal: inner };
    const allowed = await tool.authorize?.(args, call);
    if (tool.authorize && allowed?.ok !== true) return { refused: allowed };
    return { preview: await tool.preview?.(args, call) };
  });
  switch (raced.kind) {
    case "aborted":
      return failed("cancelled", "");
    case "timeout":
      return failed("preview_failed", "It took too long.");
    case "threw":
      log.error("preview_threw", raced.error, { tool: tool.name, toolCallId: ctx.toolCallId });
      return failed("preview_failed", "");
    case "returned":
      break;
  }
  const { refused, preview } = raced.value as { refused?: unknown; preview?: unknown };
  if ("refused" in raced.value) return { ok: false, error: refusedBy(refused) };
  if (preview === undefined) return gated ? { ok: true, preview: shownArgs(tool, args) } : { ok: true };
  const of = shownOf(tool, preview as Parameters<typeof shownOf>[1]);
  if (of.ok) return of;
  log.warn("preview_refused", { tool: tool.name, toolCallId: ctx.toolCallId, detail: of.detail });
  return failed("preview_failed", "", false);
}

/** A tool's own no. Anything that is not a clear yes is one. */
export function refusedBy(answer: unknown): ToolError {
  const { code, message } = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  const failure = { code: typeof code === "string" ? code : "", message: String(message ?? ""), retryable: false };
  return toolError(failure, []);
}

/** A name that any model API takes back in the history; only names of no tool are changed by it. */
export const nameOf = (name: string): string => name.slice(0, 64).replaceAll(/[^\w-]/g, "_") || "unnamed";

const providerIdOf = ({ providerId }: DecodedToolCall) =>
  providerId === null ? {} : { providerId: providerId.slice(0, PROVIDER_ID_CHARS).toWellFormed() };

export function refusalOf(
  ctx: ToolContext,
  call: DecodedToolCall,
  tool: Tool<unknown> | undefined,
  error: ToolError,
  kept: Pick<PreparedRefusal, "modelArgs" | "fingerprint">,
): PreparedRefusal {
  const name = tool?.name ?? nameOf(call.name);
  const title = tool?.title ?? { en: name, zh: name };
  const ref: CallRef = { toolCallId: ctx.toolCallId, tool: name, title, locale: ctx.locale };
  return { kind: "refused", tool: name, ...kept, payload: failedResult(ref, error), ...providerIdOf(call) };
}
