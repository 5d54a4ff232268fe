/**
 * One kind of token: verified against keys that we chose, by rules that we pinned. Nothing that the token says about
 * itself (keys, addresses of keys, algorithm) decides how it is verified. What failed is for the log alone.
 */
import { errors, jwtVerify, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from "jose";
import * as z from "zod";
import { namesTwice } from "../protocol/duplicate-members.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Principal } from "../protocol/principal.ts";
import { fromBase64Url } from "./bytes.ts";
import { principalOfClaims } from "./claims.ts";
import type { TokenRules } from "./settings.ts";

export type KeyFinder = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey | Uint8Array>;

export type Verified =
  | { readonly kind: "valid"; readonly principal: Principal; readonly expiresAt: number }
  | { readonly kind: "expired" }
  | { readonly kind: "invalid"; readonly reason: string };

/** Members that name a key or change what a signature covers (jwk, jku, x5u, x5c, crit, b64, zip) are no members. */
const Header = z.strictObject({
  alg: z.string(),
  typ: z.string().optional(),
  kid: z.string().max(255).optional(),
  x5t: z.string().max(255).optional(),
  "x5t#S256": z.string().max(255).optional(),
});
const Times = z.object({ exp: z.int(), iat: z.int(), nbf: z.int().optional(), aud: z.unknown(), iss: z.unknown() });

/** @throws for what is no JSON, or names a member twice */
function parse(bytes: Uint8Array): unknown {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const value: unknown = JSON.parse(text);
  if (namesTwice(text)) throw new SyntaxError("a member is named twice");
  return value;
}

export interface Unverified {
  readonly header: z.infer<typeof Header>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The parts of a well-formed compact JWS, or null. Trust nothing of it yet. */
export function readToken(token: string): Unverified | null {
  // Characters are bytes here: anything beyond ASCII fails below.
  if (token.length > LIMITS.tokenBytes) return null;
  const segments = token.split(".");
  if (segments.length !== 3) return null;
  const [header, payload, signature] = segments.map(fromBase64Url);
  if (!header || !payload || !signature) return null;
  try {
    const parsedHeader = Header.safeParse(parse(header));
    const parsedPayload = z.record(z.string(), z.unknown()).safeParse(parse(payload));
    if (!parsedHeader.success || !parsedPayload.success) return null;
    return { header: parsedHeader.data, payload: parsedPayload.data };
  } catch {
    return null;
  }
}

export async function verifyToken(
  token: string,
  { header, payload }: Unverified,
  rules: TokenRules,
  findKey: KeyFinder,
  now: number,
): Promise<Verified> {
  const invalid = (reason: string): Verified => ({ kind: "invalid", reason });
  if (!rules.types.includes(header.typ?.toLowerCase().replace(/^application\//, "") ?? "absent")) return invalid("typ");
  const times = Times.safeParse(payload);
  if (!times.success) return invalid("times");
  const { exp, iat, aud } = times.data;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  // A token that is for somebody else as well could be used there by us, or here by them.
  if (audiences.length === 0 || !audiences.every((one) => rules.audiences.some((known) => known === one))) {
    return invalid("aud");
  }
  if (iat * 1_000 > now + rules.leewaySeconds * 1_000) return invalid("iat");
  // What ends before it began was made by nobody who reads clocks; the leeway must not give it a life.
  if (exp <= iat || exp - iat > rules.maxLifetimeSeconds) return invalid("lifetime");
  try {
    const { payload: claims } = await jwtVerify(token, findKey, {
      algorithms: [...rules.algorithms],
      issuer: rules.issuer,
      audience: [...rules.audiences],
      clockTolerance: rules.leewaySeconds,
      currentDate: new Date(now),
      requiredClaims: ["exp", "iat"],
    });
    const principal = principalOfClaims(claims, rules.claims);
    if (principal === null) return invalid("claims");
    return { kind: "valid", principal, expiresAt: (exp + rules.leewaySeconds) * 1_000 };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { kind: "expired" };
    if (error instanceof errors.JOSEError) return invalid(error.code);
    // What the cryptography refuses to look at (a key of the wrong kind, for example) is no signature.
    if (error instanceof TypeError || error instanceof DOMException) return invalid(error.name);
    throw error;
  }
}
