/** `X-Audit-Reason`: why an administrator crosses tenants. One sentence, in any language; percent-encoded where it is not ASCII. */
import { reject, type Result } from "../protocol/problems.ts";

const LONGEST = 500;

export function readAuditReason(headers: Headers, needed: boolean): Result<string> {
  if (!needed) return { ok: true, value: "" };
  const reason = decoded(headers.get("x-audit-reason") ?? "").trim();
  if (reason.length > 0 && reason.length <= LONGEST) return { ok: true, value: reason };
  const detail = `Say why in X-Audit-Reason, in at most ${LONGEST} characters.`;
  return { ok: false, rejection: reject("audit_reason_missing", detail) };
}

/** What is no percent-encoding is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
