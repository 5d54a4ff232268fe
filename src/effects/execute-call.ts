/**
 * Executes or probes one call, once. The intent was committed before this runs (I1); what comes back is told honestly:
 * before the tool was called, a failure is proof that nothing was sent; from then on only the tool's own clear word is.
 * It holds no state: repeating, back-off and giving up are the core's.
 */
import type { Clock, Log, ToolIo, ToolPort } from "../actor/ports.ts";
import type { ToolEffect } from "../run/outstanding.ts";
import type { Tool, ToolContext } from "../tools/define-tool.ts";
import { argsDigest } from "./digests.ts";
import { discredited, type StandingOf } from "./execute-standing.ts";
import { ambiguousWith, answerOf, refusedWith, thrown, type Answered, type Outcomes } from "./execute-outcome.ts";
import { refusedBy } from "./prepare-call.ts";
import { ownDeadline } from "./own-deadline.ts";
import { contextOf, mayUse, type CatalogueEntry, type ToolCatalogue } from "./tool-catalogue.ts";
import { executeTool, NO_SPANS, toolEnded, type Spans } from "./spans.ts";
import type { ToolCircuits } from "./tool-circuits.ts";
import { race } from "./tool-race.ts";
import { failedResult, ownError } from "./tool-result.ts";
import type { ToolSettings } from "./tool-settings.ts";

export interface ExecutionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: ToolSettings;
  /** Absent: no tool is ever found to be down for everybody. */
  readonly circuits?: ToolCircuits;
  /** Absent: whoever could sign in when the run was started counts for as long as it lasts. */
  readonly standingOf?: StandingOf;
  /** Absent: nothing is traced. */
  readonly spans?: Spans;
}

interface Ready {
  readonly entry: CatalogueEntry;
  readonly tool: Tool<unknown>;
  readonly ctx: ToolContext;
  readonly of: Outcomes;
}

export class ToolExecution implements ToolPort {
  readonly #catalogue: ToolCatalogue;
  readonly #ports: ExecutionPorts;

  constructor(catalogue: ToolCatalogue, ports: ExecutionPorts) {
    this.#catalogue = catalogue;
    this.#ports = ports;
  }

  async call(effect: ToolEffect, io: ToolIo): Promise<Answered> {
    const ctx = contextOf(io.state, effect.run, effect.call.id);
    const entry = this.#catalogue.entryOf(io.state);
    const tool = entry?.tools.get(effect.call.tool);
    const secrets = io.authHeader === null ? [] : [io.authHeader, io.authHeader.replace(/^\S+\s+/, "")];
    if (!entry || !tool) return gone(effect, ctx);
    const ref = { toolCallId: effect.call.id, tool: tool.name, title: tool.title, locale: ctx.locale };
    const of: Outcomes = { tool, ref, secrets, source: effect.mode === "probe" ? "probe" : "tool" };
    const ready = { entry, tool, ctx, of };
    if (this.#isDown(effect, ctx))
      return refusedWith(of, ownError("tool_circuit_open", { retryable: true }), "not_sent");
    const { circuits, spans = NO_SPANS } = this.#ports;
    return spans.within(...executeTool(io.state, effect), async (span) => {
      const answered = await this.#attempt(ready, effect, io);
      toolEnded(span, answered.result);
      circuits?.report(ctx.tenantId, tool.name, answered.result);
      return answered;
    });
  }

  /** What a person has approved is tried all the same. */
  #isDown({ call, mode }: ToolEffect, { tenantId }: ToolContext): boolean {
    return mode === "execute" && call.gate === null && this.#ports.circuits?.isOpen(tenantId, call.tool) === true;
  }

  async #attempt(ready: Ready, effect: ToolEffect, io: ToolIo): Promise<Answered> {
    try {
      return effect.mode === "probe" ? await this.#probe(ready, effect, io) : await this.#execute(ready, effect, io);
    } catch (error) {
      // A bug of ours, at a point that we do not know: it may have happened.
      this.#log("execution_threw", error, effect);
      return thrown(ready.of, error);
    }
  }

  async #execute(ready: Ready, effect: ToolEffect, io: ToolIo): Promise<Answered> {
    const { entry, tool, ctx, of } = ready;
    const { call } = effect;
    const stale = (await recheck(ready, effect, io)) ?? (await this.#rechecked(ready, effect));
    if (stale) return stale;
    let sent = false;
    const raced = await race(this.#limits(effect, io), async (signal) => {
      const base = { ctx, deps: entry.deps, signal };
      const allowed = await tool.authorize?.(call.args, base);
      if (tool.authorize && allowed?.ok !== true) return { refused: allowed };
      if (signal.aborted) throw new DOMException("The call is no longer wanted.", "AbortError");
      sent = true;
      const authHeader = tool.credential === "user" ? io.authHeader : null;
      const { expect, idempotencyKey } = call;
      return {
        said: await tool.execute(call.args, { ...base, expect, idempotencyKey, attempt: effect.attempt, authHeader }),
      };
    });
    switch (raced.kind) {
      case "returned":
        if ("refused" in raced.value) return refusedWith(of, refusedBy(raced.value.refused), "not_sent");
        return answerOf(of, raced.value.said);
      case "threw":
        this.#log("tool_threw", raced.error, effect);
        if (!sent) return refusedWith(of, ownError("tool_failed", { layer: "tool", retryable: true }), "not_sent");
        return thrown(of, raced.error);
      case "timeout": {
        const error = ownError("timeout", { layer: "tool", retryable: true });
        return sent ? ambiguousWith(of, error, "timeout") : refusedWith(of, error, "not_sent");
      }
      case "aborted":
        return sent
          ? ambiguousWith(of, ownError("cancelled"), "cancelled")
          : refusedWith(of, ownError("cancelled"), "not_sent");
    }
  }

  async #rechecked({ of }: Ready, { call, run }: ToolEffect): Promise<Answered | null> {
    const { standingOf } = this.#ports;
    const error = standingOf ? await discredited(call, run.principal, standingOf) : null;
    return error && refusedWith(of, error, "not_sent");
  }

  /** Asks by key what became of an earlier attempt. A probe that fails says nothing. */
  async #probe({ entry, tool, ctx, of }: Ready, effect: ToolEffect, io: ToolIo): Promise<Answered> {
    const { call } = effect;
    const { probe } = tool;
    if (!probe) return ambiguousWith(of, ownError("tool_contract_violated"), "ambiguous", false);
    const raced = await race(this.#limits(effect, io), (signal) =>
      probe(call.idempotencyKey, call.args, { ctx, deps: entry.deps, signal }),
    );
    switch (raced.kind) {
      case "returned": {
        const { found, outcome } = (raced.value ?? {}) as { found?: unknown; outcome?: unknown };
        if (found === false) return { result: { kind: "absent" }, payloads: [] };
        if (found === true) return answerOf(of, outcome);
        return ambiguousWith(of, ownError("tool_contract_violated", { layer: "tool" }), "ambiguous", false);
      }
      case "threw":
        this.#log("probe_threw", raced.error, effect);
        return thrown(of, raced.error);
      case "timeout":
        return ambiguousWith(of, ownError("timeout", { layer: "tool", retryable: true }), "timeout");
      case "aborted":
        return ambiguousWith(of, ownError("cancelled"), "cancelled");
    }
  }

  #limits({ call, deadlineAt }: ToolEffect, { signal }: ToolIo) {
    const { clock, settings } = this.#ports;
    const ms = Math.min(call.timeoutMs, ownDeadline(deadlineAt, call.timeoutMs) - clock.now());
    return { clock, ms, signal, settleMs: settings.abortSettleMs };
  }

  #log(event: string, error: unknown, { id, attempt, call }: ToolEffect): void {
    this.#ports.log.error(event, error, { toolCallId: id, tool: call.tool, attempt });
  }
}

/** Everything that a yes rests on, looked at again right before acting. Nothing has been sent when one of it fails. */
async function recheck({ entry, tool, ctx, of }: Ready, { call }: ToolEffect, io: ToolIo): Promise<Answered | null> {
  const { toolCallId, toolDigest, args, expect } = { ...call, toolCallId: call.id };
  if (io.signal.aborted) return refusedWith(of, ownError("cancelled"), "not_sent");
  if ((await entry.toolDigest(tool.name)) !== toolDigest) {
    const error = ownError("changed_since_shown", { text: "call.stale" });
    return {
      result: { kind: "failed", payload: failedResult(of.ref, error, "call.stale"), proof: "not_sent" },
      payloads: [],
    };
  }
  const digest = await argsDigest({ toolCallId, tool: tool.name, toolDigest, args, expect });
  if (digest !== call.argsDigest) return refusedWith(of, ownError("changed_since_shown"), "not_sent");
  if (!mayUse(tool, ctx.scopes)) return refusedWith(of, ownError("scope_missing"), "not_sent");
  // No vault yet: a tool that needs a tenant's secret is refused, and never given the service's instead.
  const missing = tool.credential === "user" ? io.authHeader === null : tool.credential === "tenant_secret";
  return missing ? refusedWith(of, ownError("credential_expired"), "not_sent") : null;
}

/** The tool left with a newer version. To execute: nothing was sent. To probe: nobody is left to ask. */
function gone({ call, mode }: ToolEffect, ctx: ToolContext): Answered {
  const error = ownError("unknown_tool");
  const ref = { toolCallId: call.id, tool: call.tool, title: { en: call.title, zh: call.title }, locale: ctx.locale };
  const payload = failedResult(ref, error);
  if (mode === "execute") return { result: { kind: "failed", payload, proof: "not_sent" }, payloads: [] };
  return { result: { kind: "ambiguous", error, payload, reason: "ambiguous", repeatable: false }, payloads: [] };
}
