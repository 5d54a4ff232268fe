/**
 * Tickets: what a browser opens a socket with, because it cannot send a bearer token there and a URL stands in logs.
 * A ticket is good for one socket, one conversation, one origin and half a minute; whoever holds it is its user. It
 * carries the principal, so that the socket has one, and no credential. That it is used once is the actor's part.
 */
import * as z from "zod";
import { ConversationId } from "../protocol/ids.ts";
import { DURATIONS } from "../protocol/limits.ts";
import { Principal, principalOf, type RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { fromBase64Url, toBase64Url, utf8 } from "./bytes.ts";
import { macOf } from "./keys.ts";

const PREFIX = "ticket.";
/** As long as a client's `refresh` frame may carry. */
const MAX_CHARS = 4_096;

const Payload = z.strictObject({
  v: z.literal(1),
  principal: Principal,
  /** Epoch ms until which the sign-in behind it holds. */
  signedInUntil: z.int(),
  conversationId: ConversationId,
  /** null: asked for without one, so by no browser. */
  origin: z.string().nullable(),
  exp: z.int(),
  nonce: z.string().min(1),
});
export type Ticket = z.infer<typeof Payload>;

/** What the actor must know of the ticket that somebody came with, to let nobody else in with it. */
export type TicketUse = Pick<Ticket, "nonce" | "exp">;

/** Where a ticket is shown: it must be good for this very place. */
export interface Place {
  readonly conversationId: string;
  readonly origin: string | null;
  readonly now: number;
}

export interface Tickets {
  make(context: RequestContext, place: Place): Promise<Result<{ readonly ticket: string; readonly expiresAt: number }>>;
  /** What the ticket says, if it is ours, of this place and not too old. Whether it was used, only the actor knows. */
  open(ticket: string, place: Place): Promise<Result<Ticket>>;
}

export const TICKET_INVALID = reject("ticket_invalid", "This ticket is not good here. Ask for a new one.");

export function tickets(masterKey: string): Tickets {
  const mac = macOf(masterKey, "tickets");
  return {
    async make(context, { conversationId, origin, now }) {
      const payload: Ticket = {
        v: 1,
        principal: principalOf(context),
        signedInUntil: context.expiresAt,
        conversationId,
        origin,
        exp: Math.min(now + DURATIONS.ticketMs, context.expiresAt),
        nonce: toBase64Url(crypto.getRandomValues(new Uint8Array(16))),
      };
      const text = JSON.stringify(payload);
      const ticket = `${toBase64Url(utf8(text))}.${toBase64Url(await mac.sign([text]))}`;
      if (ticket.length > MAX_CHARS) {
        const detail = "The sign-in has more roles and scopes than a ticket can carry.";
        return { ok: false, rejection: reject("payload_too_large", detail) };
      }
      return { ok: true, value: { ticket, expiresAt: payload.exp } };
    },
    async open(ticket, { conversationId, origin, now }) {
      const [encoded = "", signature = "", ...more] = ticket.length > MAX_CHARS ? [] : ticket.split(".");
      const bytes = fromBase64Url(encoded);
      const seal = fromBase64Url(signature);
      if (bytes === null || seal === null || more.length > 0) return INVALID;
      const text = new TextDecoder().decode(bytes);
      if (!(await mac.verify([text], seal))) return INVALID;
      // Sealed by us, so it is JSON; another release may have given it another shape.
      const payload = Payload.safeParse(JSON.parse(text));
      if (!payload.success) return INVALID;
      const { data } = payload;
      const here = data.conversationId === conversationId && data.origin === origin && now < data.exp;
      return here ? { ok: true, value: data } : INVALID;
    },
  };
}

const INVALID: Result<never> = { ok: false, rejection: TICKET_INVALID };

/** The ticket among the subprotocols that a browser offers; null: none. Two are none that could be trusted. */
export function ticketIn(headers: Headers): string | null {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const found = offered.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  return found.length > 1 ? "" : (found[0] ?? null);
}
