/** Tokens made by hand, well or badly: every segment can be anything. */
import { createHmac, createSign, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { NOW } from "./edge.ts";

export const ISSUER = "https://id.test/";
export const AUDIENCE = "holdpoint";
export const SECRET = "a shared secret of more than 32 bytes, not-a-secret";
export const seconds = Math.floor(NOW / 1_000);

export const claims = (change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: "alice",
  tid: "acme",
  scope: "conversations:read",
  iat: seconds - 60,
  exp: seconds + 600,
  ...change,
});

export const segment = (value: unknown): string => {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return bytes.toString("base64url");
};

export interface Made {
  readonly header?: unknown;
  readonly payload?: unknown;
  readonly secret?: string | Buffer;
}

/** Signed with the shared secret, whatever the header says. */
export function sharedToken({ header = {}, payload = claims(), secret = SECRET }: Made = {}): string {
  const whole = typeof header === "string" ? header : { alg: "HS256", typ: "at+jwt", ...Object(header) };
  const signed = `${segment(whole)}.${segment(payload)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

export interface PublishedKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: Record<string, unknown>;
}

export function ecKey(kid: string): PublishedKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" } };
}

export function rsaKey(kid: string): PublishedKey {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" } };
}

export function ecToken(key: PublishedKey, header: Record<string, unknown> = {}, payload: unknown = claims()): string {
  const signed = `${segment({ alg: "ES256", typ: "at+jwt", kid: key.kid, ...header })}.${segment(payload)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

export function rsaToken(key: PublishedKey, header: Record<string, unknown> = {}): string {
  const signed = `${segment({ alg: "RS256", typ: "at+jwt", kid: key.kid, ...header })}.${segment(claims())}`;
  return `${signed}.${createSign("sha256").update(signed).sign(key.privateKey).toString("base64url")}`;
}

/** Signed with the shared secret, right but for what is given. */
export const hs = (payload: Record<string, unknown>): string => sharedToken({ payload: claims(payload) });
