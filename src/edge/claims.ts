/** From a verified token's claims to a principal. Absent or of another type is no sign-in: there is no default user. */
import * as z from "zod";
import { TenantId, UserId } from "../protocol/ids.ts";
import { Principal } from "../protocol/principal.ts";
import type { ClaimNames } from "./settings.ts";

/** Ids are keys, go into logs and headers, and are read by people: nothing in them that cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const plain = (text: string) => text.isWellFormed() && text.trim() === text && !UNSEEN.test(text);
export const PlainUserId = UserId.refine(plain, { error: "must be plain text" });
export const PlainTenantId = TenantId.refine(plain, { error: "must be plain text" });

const words = (text: string): string[] => text.split(" ").filter((word) => word !== "");
const Scopes = z.union([z.string().max(8_192).transform(words), z.array(z.string())]);

const Claims = z.object({
  tenantId: PlainTenantId,
  userId: PlainUserId,
  roles: Principal.shape.roles.default([]),
  scopes: Scopes.default([]).pipe(Principal.shape.scopes),
  locale: z
    .string()
    .regex(/^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8}){0,3}$/)
    .optional()
    // A language is a courtesy: one that we cannot read is no reason to refuse the person.
    .catch(undefined),
  /** Checked with the other times, before anybody asks for it here. */
  tokenEpoch: z.int(),
});

export function principalOfClaims(payload: Readonly<Record<string, unknown>>, names: ClaimNames): Principal | null {
  const parsed = Claims.safeParse({
    tenantId: claim(payload, names.tenant),
    userId: claim(payload, names.user),
    roles: claim(payload, names.roles),
    scopes: claim(payload, names.scopes),
    locale: claim(payload, names.locale),
    tokenEpoch: payload["iat"],
  });
  if (!parsed.success) return null;
  const { locale, ...rest } = parsed.data;
  return { ...rest, ...(locale === undefined ? {} : { locale }) };
}

/** The member of that very name (names may be URLs), else the path that its dots make. */
function claim(payload: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let value: unknown = payload;
  for (const step of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Object.entries(value).find(([key]) => key === step)?.[1];
  }
  return value;
}
