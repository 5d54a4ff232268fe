/**
 * Where plans are kept. Every call names tenant and user, and they stand in the same statement as the plan's id.
 *
 * A write that did not say that it succeeded has not: a store returns what the other side said on purpose, and throws
 * `AmbiguousOutcome` where that leaves open what happened.
 */
import * as z from "zod";
import type { ToolContext } from "../../tools/define-tool.ts";
import type { ToolFailure } from "../../tools/outcome.ts";

export const Plan = z.object({
  id: z.string(),
  title: z.string(),
  notes: z.string(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type Plan = z.infer<typeof Plan>;

/** A plan, and which act made this version of it. */
export interface StoredPlan {
  readonly plan: Plan;
  readonly lastChange: string;
}

export type Owner = Pick<ToolContext, "tenantId" | "userId">;
/** `refused`: understood, and refused for good; nothing has changed. */
export type Stored<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refused: ToolFailure };

export interface Change {
  readonly id: string;
  /** The version that is changed, and no other. */
  readonly version: number;
  readonly title?: string;
  readonly notes?: string;
  /** Names the act, the same over its repeats. */
  readonly mark: string;
}

export interface PlanStore {
  /** Newest first. */
  list(owner: Owner, limit: number, signal: AbortSignal): Promise<Stored<readonly Plan[]>>;
  find(owner: Owner, id: string, signal: AbortSignal): Promise<Stored<StoredPlan | null>>;
  /** A plan that has this id already is answered as it is: the id belongs to one act. */
  insert(
    owner: Owner,
    plan: { readonly id: string; readonly title: string; readonly notes: string; readonly mark: string },
    signal: AbortSignal,
  ): Promise<Stored<Plan>>;
  /** null: no plan of this owner has this id and version. */
  update(owner: Owner, change: Change, signal: AbortSignal): Promise<Stored<Plan | null>>;
  /** false: no plan of this owner has this id and version. */
  remove(owner: Owner, plan: Pick<Change, "id" | "version">, signal: AbortSignal): Promise<Stored<boolean>>;
}

export const stored = <T>(value: T): Stored<T> => ({ ok: true, value });

/** Names an act outside without giving its key away: 24 hexadecimal digits. */
export async function markOf(idempotencyKey: string): Promise<string> {
  return (await hexDigest(`plan:${idempotencyKey}`)).slice(0, 24);
}

export async function hexDigest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
