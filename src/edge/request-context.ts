/** The RequestContext: built here, once, from the verified sign-in and the request's trace, and from nothing else. */
import type { Principal, RequestContext } from "../protocol/principal.ts";
import type { TicketUse } from "./tickets.ts";
import type { Trace } from "./trace.ts";

export interface SignedIn {
  readonly principal: Principal;
  /** Epoch ms until which the sign-in holds, leeway included. */
  readonly expiresAt: number;
  /** As it came; in memory for this request only. Absent: signed in with a ticket. */
  readonly authHeader?: string;
  readonly ticket?: TicketUse;
}

export function requestContext(signedIn: SignedIn, trace: Trace, timeoutMs: number): RequestContext {
  const { authHeader } = signedIn;
  return {
    ...signedIn.principal,
    requestId: trace.requestId,
    traceId: trace.traceId,
    ...(authHeader === undefined ? {} : { authHeader }),
    expiresAt: signedIn.expiresAt,
    deadlineAt: trace.startedAt + timeoutMs,
  };
}
