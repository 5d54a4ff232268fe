/** Who asks. Built once at the edge from the verified sign-in; no other source of identity exists. */
import * as z from "zod";
import { TenantId, UserId } from "./ids.ts";

/** What is stored with a run. The credential itself is never part of it. */
export const Principal = z.strictObject({
  tenantId: TenantId,
  userId: UserId,
  roles: z.array(z.string().max(64)).max(64),
  scopes: z.array(z.string().max(128)).max(256),
  locale: z.string().max(35).optional(),
  tokenEpoch: z.int().optional(),
});
export type Principal = z.infer<typeof Principal>;

export const RequestContext = Principal.extend({
  requestId: z.string(),
  traceId: z.string(),
  /** Bearer header of this very request; memory only, never stored, logged or put into a prompt. */
  authHeader: z.string().optional(),
  /** Epoch ms until which the sign-in holds. */
  expiresAt: z.int(),
  deadlineAt: z.int().optional(),
});
export type RequestContext = z.infer<typeof RequestContext>;

/** The storable part of a context. */
export function principalOf(context: RequestContext): Principal {
  const { tenantId, userId, roles, scopes, locale, tokenEpoch } = context;
  return {
    tenantId,
    userId,
    roles,
    scopes,
    ...(locale === undefined ? {} : { locale }),
    ...(tokenEpoch === undefined ? {} : { tokenEpoch }),
  };
}

export const By = z.strictObject({ kind: z.enum(["user", "agent", "operator", "system"]), id: z.string().optional() });
export type By = z.infer<typeof By>;
