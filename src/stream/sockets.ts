/**
 * A watcher's socket as the publisher needs it, and what is kept with it. Everything that must outlive a hibernation
 * stands in the attachment: the object wakes with sockets and without memory, and no connect hook runs again.
 */
import { Principal, type RequestContext } from "../protocol/principal.ts";
import { cutText, utf8Bytes } from "../protocol/text.ts";

export interface Watcher {
  readonly principal: Principal;
  readonly requestId: string;
  readonly traceId: string;
  /** Epoch ms until which the sign-in holds. */
  readonly expiresAt: number;
  /** Of the page that opened it; absent: no browser. */
  readonly origin?: string;
  /** Since when it has been too far behind to be sent previews, and whether it missed one. */
  readonly slow?: { readonly since: number; readonly missed: boolean };
}

/** What a socket kept, read with suspicion: another release may have written it. */
export function watcherIn(kept: unknown): Watcher | null {
  if (typeof kept !== "object" || kept === null) return null;
  const { principal, requestId, traceId, expiresAt, origin, slow } = kept as Partial<Record<keyof Watcher, unknown>>;
  const known = Principal.safeParse(principal);
  if (!known.success || typeof requestId !== "string" || typeof traceId !== "string") return null;
  if (typeof expiresAt !== "number") return null;
  return {
    principal: known.data,
    requestId,
    traceId,
    expiresAt,
    ...(typeof origin === "string" ? { origin } : {}),
    ...(isSlow(slow) ? { slow } : {}),
  };
}

const isSlow = (slow: unknown): slow is NonNullable<Watcher["slow"]> =>
  typeof slow === "object" && slow !== null && "since" in slow && typeof slow.since === "number" && "missed" in slow;

/** Of the platform's attachment; a bound of ours below it, for what the encoding adds. */
export const ATTACHMENT_BYTES = 15 * 1024;

export interface SocketLike {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Bytes sent that the other side has not read yet. */
  readonly bufferedAmount: number;
  /** null: not one of ours, or of a release that kept something else. */
  readonly watcher: Watcher | null;
  keep(watcher: Watcher): void;
}

export interface Sockets {
  /** Open sockets: all of them, or one user's. */
  all(userId?: string): readonly SocketLike[];
}

/** The context that a command on this socket carries. The credential itself was never kept. */
export function contextOf({ principal, requestId, traceId, expiresAt }: Watcher): RequestContext {
  return { ...principal, requestId, traceId, expiresAt };
}

/** 1004, 1005, 1006 and 1015 say what happened to a connection; a close frame may not carry them, and sending throws. */
export function sendableCode(code: number): number {
  const ours = code >= 3_000 && code <= 4_999;
  const standard = code >= 1_000 && code <= 1_014 && code !== 1_004 && code !== 1_005 && code !== 1_006;
  return Number.isInteger(code) && (ours || standard) ? code : 1_000;
}

/** At most so many bytes of UTF-8, never ending in half a character. */
export function cutBytes(text: string, bytes: number): string {
  let cut = cutText(text, bytes);
  while (utf8Bytes(cut) > bytes) cut = cutText(cut, cut.length - 1);
  return cut;
}

const REASON_BYTES = 123;

/** Never throws: a socket that is gone already has got what it would be told. */
export function closeSocket(socket: Pick<SocketLike, "close">, code: number, reason: string): void {
  try {
    socket.close(sendableCode(code), cutBytes(reason, REASON_BYTES));
  } catch {
    // Closed by the other side, or twice by ours.
  }
}
