/** Who must say yes to a call. Whatever a policy does but say a clear no, somebody is asked. */
import type { Log } from "../actor/ports.ts";
import { canonicalJson } from "../protocol/canonical-json.ts";
import type { Gate } from "../protocol/events.ts";
import type { Agent } from "../tools/agent-definition.ts";
import type { Asked, Tool, ToolContext } from "../tools/define-tool.ts";
import { confirmOf } from "../tools/describe-tool.ts";
import type { ToolSettings } from "./tool-settings.ts";

export interface PolicyPorts {
  readonly settings: ToolSettings;
  readonly log: Log;
}

/** null: nobody is asked. */
export function gateOf(
  { settings, log }: PolicyPorts,
  agent: Agent,
  tool: Tool<unknown>,
  args: unknown,
  ctx: ToolContext,
): Gate | null {
  const asked = askedOf(tool, args, ctx, log);
  if (asked === null) return null;
  const quorum = Math.max(1, Math.trunc(Number(asked.quorum ?? tool.quorum ?? 1)) || 1);
  const approvers = asked.approvers ?? tool.approvers;
  const ttl = agent.confirmationTtlMs?.(ctx.metadata) ?? tool.expiresInMs ?? settings.confirmationMs;
  return {
    quorum,
    selfApproval: asked.selfApproval ?? tool.selfApproval ?? true,
    ...(approvers === undefined ? {} : { approvers: [...approvers] }),
    expiresInMs: Math.max(1, Math.trunc(ttl)),
  };
}

function askedOf(tool: Tool<unknown>, args: unknown, ctx: ToolContext, log: Log): Asked | null {
  if (typeof tool.confirm !== "function") return confirmOf(tool) === "never" ? null : {};
  try {
    const answer: unknown = tool.confirm(args, ctx);
    if (answer === false) return null;
    // A promise is a policy that forgot that it may not wait: it asks for nothing that can be read, so a yes is needed.
    return typeof answer === "object" && answer !== null && !("then" in answer) ? answer : {};
  } catch (error) {
    log.error("policy_threw", error, { tool: tool.name, toolCallId: ctx.toolCallId });
    return {};
  }
}

/** Whether `after` asks for anything that `before` did not: then earlier approvals are not enough. */
export function isStricter(before: Gate, after: Gate): boolean {
  const fewer = canonicalJson(before.approvers ?? null) !== canonicalJson(after.approvers ?? null);
  return after.quorum > before.quorum || (before.selfApproval && !after.selfApproval) || fewer;
}
