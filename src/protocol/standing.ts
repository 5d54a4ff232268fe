/**
 * Whether a sign-in still counts: what a tenant's object knows of the tenant and of one of its users, and the refusals
 * that follow from it. A token is judged by when it was issued (its epoch), so that one moment revokes all that there
 * were before it, and none of those that come after.
 */
import * as z from "zod";
import type { Command } from "./commands.ts";
import type { Principal } from "./principal.ts";
import { reject, type Rejection } from "./problems.ts";

export interface Standing {
  /** Epoch seconds, as in a token's `iat`: what was issued before is revoked. 0: nothing is. */
  readonly validFrom: number;
  /** Of the user or of the whole tenant: no token counts, whenever it was issued. */
  readonly deactivated: boolean;
  /** Of the tenant: nothing new begins. */
  readonly paused: boolean;
}

export const GOOD_STANDING: Standing = { validFrom: 0, deactivated: false, paused: false };

/** In the words of any other bad token: whoever holds it learns no more. */
const REVOKED = reject("unauthenticated", "The bearer token is not valid.");
const PAUSED = reject("paused", "The tenant is paused. What runs waits; cancelling and rejecting are possible.", {
  retryAfterMs: 60_000,
});

/** null: it counts. A sign-in of unknown age is as old as can be. */
export function checkSignIn({ tokenEpoch = 0 }: Pick<Principal, "tokenEpoch">, standing: Standing): Rejection | null {
  return standing.deactivated || tokenEpoch < standing.validFrom ? REVOKED : null;
}

/** While a tenant is paused people may still stop things, and say no. */
export function checkPause(command: Command, { paused }: Standing): Rejection | null {
  return !paused || stops(command) ? null : PAUSED;
}

function stops(command: Command): boolean {
  switch (command.type) {
    case "cancel_run":
    case "drop_run":
      return true;
    case "resume": {
      const { decisions = [], resolutions = [], continuations = [] } = command.body;
      return (
        resolutions.length === 0 &&
        decisions.every(({ decision }) => decision === "reject") &&
        continuations.every(({ decision }) => decision === "stop")
      );
    }
    default:
      return false;
  }
}

/** How far the sweep over a tenant's conversations has come: sockets closed, runs stopped. */
export const Sweep = z.object({
  state: z.enum(["running", "done"]),
  passes: z.int().nonnegative(),
  conversations: z.int().nonnegative(),
  runs: z.int().nonnegative(),
  sockets: z.int().nonnegative(),
});
export type Sweep = z.infer<typeof Sweep>;

export const UserStanding = z.object({
  tenantId: z.string(),
  userId: z.string(),
  state: z.enum(["active", "deactivated"]),
  /** Tokens issued before are revoked; absent: none is. */
  validFrom: z.string().optional(),
  sweep: Sweep.optional(),
});
export type UserStanding = z.infer<typeof UserStanding>;

export const TenantStanding = z.object({
  tenantId: z.string(),
  state: z.enum(["active", "deactivated"]),
  paused: z.boolean(),
  validFrom: z.string().optional(),
  sweep: Sweep.optional(),
});
export type TenantStanding = z.infer<typeof TenantStanding>;
