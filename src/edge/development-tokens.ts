/**
 * The development sign-in: tokens that this service signs itself, with a sub-key of its own and rules of its own, so
 * that no configured identity provider can make one and no token of it passes for the provider's.
 */
import { SignJWT } from "jose";
import type { TokenRules } from "./settings.ts";

export const DEVELOPMENT_RULES: TokenRules = {
  issuer: "holdpoint:development-sign-in",
  audiences: ["holdpoint"],
  algorithms: ["HS256"],
  types: ["at+jwt"],
  // None: a test that lets a token expire need not wait for more.
  leewaySeconds: 0,
  maxLifetimeSeconds: 86_400,
  claims: { user: "sub", tenant: "tid", roles: "roles", scopes: "scope", locale: "locale" },
};

export interface DevelopmentIdentity {
  readonly userId: string;
  readonly tenantId: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly locale?: string | undefined;
}

export function signDevelopmentToken(
  key: Uint8Array,
  who: DevelopmentIdentity,
  now: number,
  ttlSeconds: number,
): Promise<string> {
  const iat = Math.floor(now / 1_000);
  return new SignJWT({
    tid: who.tenantId,
    roles: who.roles,
    scope: who.scopes,
    ...(who.locale === undefined ? {} : { locale: who.locale }),
  })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
    .setSubject(who.userId)
    .setIssuer(DEVELOPMENT_RULES.issuer)
    .setAudience("holdpoint")
    .setIssuedAt(iat)
    .setExpirationTime(iat + ttlSeconds)
    .sign(key);
}
