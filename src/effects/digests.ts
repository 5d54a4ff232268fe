/**
 * What binds a yes to what was shown. All digests are base64url SHA-256 of canonical JSON (RFC 8785); what goes into them
 * is fixed here and nowhere else, because people's approvals and recorded logs hold them.
 */
import { canonicalJson } from "../protocol/canonical-json.ts";
import type { RunLimits } from "../protocol/run.ts";
import type { Tool } from "../tools/define-tool.ts";
import { confirmOf, effectOf, schemasOf } from "../tools/describe-tool.ts";

export function base64Url(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @returns 43 characters of base64url */
export async function sha256(text: string): Promise<string> {
  return base64Url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Name, schemas, effect, scope and policy: when one of them changes, what was shown before is stale. */
export function toolDigest(tool: Tool<never>): Promise<string> {
  const { input, output } = schemasOf(tool);
  const { name, scope, version, quorum, selfApproval, approvers, expiresInMs, credential } = tool;
  const policy = { confirm: confirmOf(tool), quorum, selfApproval, approvers, expiresInMs, credential };
  return sha256(
    canonicalJson(
      defined({ v: 1, name, version, input, output, effect: effectOf(tool), scope, policy: defined(policy) }),
    ),
  );
}

export interface BoundArgs {
  readonly toolCallId: string;
  readonly tool: string;
  readonly toolDigest: string;
  readonly args: unknown;
  /** Absent from the digest where the tool expects nothing. */
  readonly expect?: unknown;
}

/** What a confirmation binds (**I7**). */
export function argsDigest({ toolCallId, tool, toolDigest: digest, args, expect }: BoundArgs): Promise<string> {
  return sha256(canonicalJson(defined({ v: 1, toolCallId, tool, toolDigest: digest, args, expect })));
}

/** What an agent is, pinned per run. */
export interface AgentFacts {
  readonly name: string;
  readonly prompt: Readonly<Record<string, string>>;
  readonly tools: readonly { readonly digest: string; readonly description: string }[];
  readonly limits: RunLimits;
  readonly model: string;
}

export const agentDigest = (facts: AgentFacts): Promise<string> => sha256(canonicalJson({ v: 1, ...facts }));

function defined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
