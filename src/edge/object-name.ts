/**
 * The name of a conversation's object. The tenant comes from the verified sign-in only, so another tenant's
 * conversation id leads to a different, empty object.
 */
import { lengthPrefixed, toBase64Url } from "./bytes.ts";

export async function objectName(tenantId: string, conversationId: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", lengthPrefixed([tenantId, conversationId]));
  return `c1.${toBase64Url(new Uint8Array(digest))}`;
}
