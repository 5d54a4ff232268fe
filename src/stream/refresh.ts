/**
 * A new sign-in for a socket that stays open. Only of the same person: a socket that changed hands would be a second
 * way to sign in. The ticket is used up only when everything else is well.
 */
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection, type Result } from "../protocol/problems.ts";
import { isoOf } from "../protocol/time.ts";
import type { SocketLike, Watcher } from "./sockets.ts";

/** What a verified ticket says. */
export interface Renewal {
  readonly principal: Principal;
  /** Epoch ms. */
  readonly signedInUntil: number;
  readonly nonce: string;
  /** Epoch ms until which the ticket itself holds. */
  readonly exp: number;
}

export interface Refreshing {
  /** Ours, for this conversation and this origin, and not too old? */
  readonly open: (ticket: string, origin: string | null) => Promise<Result<Renewal>>;
  /** May this principal still watch? null: yes. */
  readonly hidden: (principal: Principal) => Rejection | null;
  /** false: the ticket was used before. */
  readonly burn: (nonce: string, exp: number) => boolean;
}

const INVALID = reject("ticket_invalid", "This ticket is not good here. Ask for a new one.");

/** @returns what is acknowledged: until when the socket is signed in now */
export async function refresh(
  socket: SocketLike,
  { principal: before, origin }: Watcher,
  ticket: string,
  to: Refreshing,
): Promise<Result<{ readonly expiresAt: string }>> {
  const opened = await to.open(ticket, origin ?? null);
  if (!opened.ok) return opened;
  const { principal, signedInUntil, nonce, exp } = opened.value;
  if (principal.userId !== before.userId || principal.tenantId !== before.tenantId) {
    return { ok: false, rejection: INVALID };
  }
  const hidden = to.hidden(principal);
  if (hidden) return { ok: false, rejection: hidden };
  // Read anew: while the ticket was verified it may have been told that it reads too slowly.
  const { watcher } = socket;
  if (!watcher || !to.burn(nonce, exp)) return { ok: false, rejection: INVALID };
  socket.keep({ ...watcher, principal, expiresAt: signedInUntil });
  return { ok: true, value: { expiresAt: isoOf(signedInUntil) } };
}
