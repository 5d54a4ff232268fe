/** What names a request from its first byte on: our id for it, and the trace that it belongs to. */
export interface Trace {
  readonly requestId: string;
  /** 32 hex digits; the caller's where it sent a valid `traceparent`. Never authority. */
  readonly traceId: string;
  readonly startedAt: number;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

export function openTrace(request: Request, now: number): Trace {
  const given = request.headers.get("traceparent") ?? "";
  const found = TRACEPARENT.exec(given);
  // Version 00 has exactly four fields; only later ones may have more.
  const valid = found !== null && !(given.startsWith("00-") && found[2] !== undefined);
  return {
    // Never the caller's: an id that two requests share finds neither in the log.
    requestId: crypto.randomUUID(),
    traceId: (valid ? found[1] : undefined) ?? crypto.randomUUID().replaceAll("-", ""),
    startedAt: now,
  };
}
