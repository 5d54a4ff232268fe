/**
 * The request with which the edge opens an actor's socket, made anew and read again here: who asks stands in the header
 * of `rpc.ts`, what for in the URL. Nothing in it is the client's own text but what was checked before.
 */
import * as z from "zod";

const Handshake = z.strictObject({
  conversation: z.string(),
  /** A cursor; absent: from the head. */
  after: z.string().optional(),
  /** Of the page that opens the socket; absent: no browser. */
  origin: z.string().optional(),
  /** Of the ticket that stands for a sign-in: the actor lets it in once. */
  nonce: z.string().optional(),
  /** Epoch ms until which that ticket holds. */
  nonceUntil: z.string().regex(/^\d+$/).transform(Number).optional(),
});
export type Handshake = z.infer<typeof Handshake>;

export function handshakeUrl(handshake: Handshake): URL {
  const url = new URL("https://conversation/stream");
  for (const [name, value] of Object.entries(handshake)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** @throws ZodError for a request that this release's edge did not make */
export const readHandshake = (url: string): Handshake => Handshake.parse(Object.fromEntries(new URL(url).searchParams));
