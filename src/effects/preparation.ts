/**
 * The end of the model effect: the calls of an answer, prepared side by side and kept in their order. The same road
 * prepares what a person typed in the place of the model's arguments, and what a person says came of a call.
 */
import { LIMITS, PARALLEL_READS } from "../protocol/limits.ts";
import { canonicalJson } from "../protocol/canonical-json.ts";
import { toolCallIdOf } from "../protocol/ids.ts";
import { utf8Bytes } from "../protocol/text.ts";
import { langOf } from "../protocol/texts.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import type { PreparedCall, PreparedEdit } from "../run/inputs.ts";
import type { ModelEffect } from "../run/outstanding.ts";
import type { CallState, RunState, State } from "../run/state.ts";
import { argsDigest } from "./digests.ts";
import { displayOf } from "./execute-outcome.ts";
import { readArgs } from "./prepare-args.ts";
import { nameOf, prepareCall, refusalOf, see, type PreparePorts } from "./prepare-call.ts";
import { gateOf, isStricter } from "./prepare-policy.ts";
import type { DecodedToolCall } from "./stream/decoded-answer.ts";
import { contextOf, type CatalogueEntry, type ToolCatalogue } from "./tool-catalogue.ts";
import { fingerprintOf } from "./tool-fingerprint.ts";
import { plainJson } from "./tool-plain-json.ts";
import { ownError } from "./tool-result.ts";

export class Preparation {
  readonly #ports: PreparePorts;
  readonly #catalogue: ToolCatalogue;

  constructor(catalogue: ToolCatalogue, ports: PreparePorts) {
    this.#catalogue = catalogue;
    this.#ports = ports;
  }

  /** Never rejects. After an abort it resolves soon, and what it resolves with is not to be used. */
  async calls(
    effect: Pick<ModelEffect, "run" | "firstCall">,
    io: { readonly state: State; readonly signal: AbortSignal },
    decoded: readonly DecodedToolCall[],
  ): Promise<PreparedCall[]> {
    const prepared: PreparedCall[] = [];
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < decoded.length; at = next++) {
        const call = decoded[at];
        if (call) prepared[at] = await this.#one(effect, io, call, at);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_READS }, worker));
    return prepared;
  }

  async #one(
    { run, firstCall }: Pick<ModelEffect, "run" | "firstCall">,
    { state, signal }: { readonly state: State; readonly signal: AbortSignal },
    call: DecodedToolCall,
    index: number,
  ): Promise<PreparedCall> {
    const ctx = contextOf(state, run, toolCallIdOf(run.id, firstCall + index));
    const entry = this.#catalogue.entryOf(state);
    const refuse = async (code: "unknown_tool" | "invalid_arguments" | "tool_failed", detail?: string) =>
      refusalOf(ctx, call, entry?.tools.get(call.name), ownError(code, detail === undefined ? {} : { detail }), {
        modelArgs: {},
        fingerprint: await fingerprintOf(nameOf(call.name), call.arguments),
      });
    if (!entry) return refuse("unknown_tool");
    if (index >= LIMITS.callsPerStep) {
      return refuse("invalid_arguments", `At most ${LIMITS.callsPerStep} calls may be made at once.`);
    }
    try {
      return await prepareCall(this.#ports, { entry, ctx, maxToolMs: run.limits.maxToolMs, signal }, call);
    } catch (error) {
      this.#ports.log.error("preparation_threw", error, { tool: nameOf(call.name), toolCallId: ctx.toolCallId });
      return refuse("tool_failed");
    }
  }

  /** Of a person's `edit`. Refused where the model's own call would have been. */
  async edit(state: State, run: RunState, call: CallState, args: unknown): Promise<PreparedEdit> {
    const entry = this.#catalogue.entryOf(state);
    const tool = entry?.tools.get(call.tool);
    const given = plainJson(args);
    if (!entry || !tool) return { kind: "refused", detail: ownError("unknown_tool").message };
    if (!given.ok || !isObject(given.value)) return { kind: "refused", detail: "args must be a JSON object." };
    const ctx = contextOf(state, run, call.id);
    const at = { entry, ctx, maxToolMs: run.limits.maxToolMs, signal: new AbortController().signal };
    const read = readArgs(tool, given.value, ctx);
    if (!read.ok) return { kind: "refused", detail: read.detail, ...(read.pointer ? { pointer: read.pointer } : {}) };
    const seen = await see(this.#ports, at, tool, read.args, true);
    if (!seen.ok) return { kind: "refused", detail: seen.error.message };
    const gate = gateOf(this.#ports, entry.agent, tool, read.args, ctx) ?? call.gate;
    if (!gate) return { kind: "refused", detail: "Nobody was asked about this call." };
    const expected = seen.expect === undefined ? {} : { expect: seen.expect };
    const toolDigest = (await entry.toolDigest(tool.name)) ?? "";
    const bound = { toolCallId: call.id, tool: tool.name, toolDigest, args: read.args, ...expected };
    // Somebody who typed arguments has not seen what stands there now, when it is not what was shown to them.
    const moved = canonicalJson(seen.expect ?? null) !== canonicalJson(call.expect ?? null);
    return {
      kind: "ready",
      args: read.args,
      argsDigest: await argsDigest(bound),
      ...expected,
      ...(seen.preview === undefined ? {} : { preview: seen.preview }),
      gate,
      changed: read.changed || moved || (call.gate !== null && isStricter(call.gate, gate)),
    };
  }

  /** Of `happened` with a result: it must be what the tool itself would have answered. */
  result(state: State, run: Pick<RunState, "principal">, call: CallState, result: unknown): ToolResult | Invalid {
    const tool = this.#toolOf(state, call.tool);
    if (!tool) return { invalid: ownError("unknown_tool").message };
    const data = validated(tool, result);
    if ("invalid" in data) return data;
    if (utf8Bytes(JSON.stringify(data.value)) > LIMITS.payloadInlineBytes)
      return { invalid: "The result is too long." };
    const lang = langOf(run.principal.locale);
    const ref = { toolCallId: call.id, tool: tool.name, title: tool.title, locale: run.principal.locale };
    return {
      schemaVersion: 1,
      kind: "tool_execution_result",
      toolCallId: call.id,
      tool: tool.name,
      success: true,
      displayText: displayOf(tool, ref, data.value, undefined),
      displayLang: lang,
      data: data.value,
      source: "person",
    };
  }

  #toolOf(state: State, name: string) {
    return this.#catalogue.entryOf(state)?.tools.get(name);
  }
}

type Invalid = { readonly invalid: string };
type Named = CatalogueEntry["tools"] extends ReadonlyMap<string, infer T> ? T : never;

function validated(tool: Named, result: unknown): { readonly value: unknown } | Invalid {
  const plain = plainJson(result);
  if (!plain.ok) return { invalid: `The result is no plain JSON: ${plain.detail}.` };
  try {
    const parsed = tool.output.safeParse(plain.value);
    const data = parsed.success ? plainJson(parsed.data) : null;
    if (data?.ok) return { value: data.value };
    const [issue] = parsed.success ? [] : parsed.error.issues;
    return {
      invalid: issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : ownError("output_invalid").message,
    };
  } catch {
    return { invalid: ownError("output_invalid").message };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
