/** An identity provider that publishes its keys, and tokens that it did or did not make. */
import { createHmac, createSign, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { Forged } from "./case.ts";

export const ISSUER = "https://id.security.test/";
export const AUDIENCE = "holdpoint-security";

interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface Provider {
  readonly url: string;
  /** How often its keys were asked for. */
  readonly fetches: () => number;
  /** Requests for anything else: an address out of a token, for example. */
  readonly strays: () => number;
  readonly token: (forged: Forged, user: { readonly userId: string; readonly tenantId: string }) => string;
  readonly close: () => Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const ec: Pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other: Pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const rsa: Pair = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const jwkOf = ({ publicKey }: Pair) => publicKey.export({ format: "jwk" });
  const keys = [
    { ...jwkOf(ec), kid: "e1", alg: "ES256", use: "sig" },
    // Says nothing of its algorithm: it has one all the same.
    { ...jwkOf(rsa), kid: "r1", use: "sig" },
  ];
  let fetches = 0;
  let strays = 0;
  const server = createServer((request, response) => {
    if (request.url === "/keys") fetches += 1;
    else strays += 1;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    url: `${url}/keys`,
    fetches: () => fetches,
    strays: () => strays,
    token: (forged, user) => forge(forged, user, { ec, other, rsa, url }),
    close: () => new Promise((done) => server.close(() => done())),
  };
}

interface Keys {
  readonly ec: Pair;
  readonly other: Pair;
  readonly rsa: Pair;
  readonly url: string;
}

function forge(forged: Forged, { userId, tenantId }: { userId: string; tenantId: string }, keys: Keys): string {
  if (forged.text !== undefined) return forged.text;
  const { sign: how = "ec", spoil } = forged;
  const now = Math.floor(Date.now() / 1_000);
  const at = (n: number | undefined, otherwise: number) => now + (n ?? otherwise);
  const algorithm = how === "rsa" ? "RS256" : how.endsWith("as-secret") ? "HS256" : "ES256";
  const header = without(
    { alg: algorithm, typ: "at+jwt", kid: how === "rsa" ? "r1" : "e1", ...forged.header },
    keys.url,
  );
  const { times = {} } = forged;
  const payload = without(
    {
      iss: ISSUER,
      aud: AUDIENCE,
      sub: userId,
      tid: tenantId,
      scope: "conversations:read conversations:write confirmations:decide lab:transfer",
      iat: at(times.iat, -5),
      exp: at(times.exp, 600),
      ...(times.nbf === undefined ? {} : { nbf: at(times.nbf, 0) }),
      ...forged.payload,
    },
    keys.url,
  );
  const head = segment(spoil === "duplicate-alg" ? JSON.stringify(header).replace("{", '{"alg":"none",') : header);
  const body = segment(spoilt(JSON.stringify(payload), spoil));
  const signed = `${head}.${body}`;
  const signature = signatureOf(signed, how, keys);
  switch (spoil) {
    case "cut":
      return `${signed}.${signature.slice(0, -8)}`;
    case "padded":
      return `${signed}.${signature}==`;
    case "dots":
      return `${signed}.${signature}..`;
    case "fourth":
      return `${signed}.${signature}.${signature}`;
    case "empty-signature":
      return `${signed}.`;
    default:
      return `${signed}.${signature}`;
  }
}

/** `null` takes a member out; `@url` is the provider's own address. */
function without(members: Record<string, unknown>, url: string): Record<string, unknown> {
  const kept = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, value === "@url" ? `${url}/stray` : value]));
}

function spoilt(text: string, spoil: Forged["spoil"]): string | Buffer {
  if (spoil === "latin1") return Buffer.from(text.replace('"sub":"', '"sub":"\u00ef'), "latin1");
  return spoil === "bom" ? `\uFEFF${text}` : text;
}

function signatureOf(signed: string, how: Forged["sign"], { ec, other, rsa }: Keys): string {
  const bytes = Buffer.from(signed);
  const jwk = ec.publicKey.export({ format: "jwk" });
  const hmac = (secret: string | Buffer) => createHmac("sha256", secret).update(bytes).digest("base64url");
  const ecdsa = (key: KeyObject, dsaEncoding: "ieee-p1363" | "der") =>
    sign("sha256", bytes, { key, dsaEncoding }).toString("base64url");
  switch (how) {
    case "other-ec":
      return ecdsa(other.privateKey, "ieee-p1363");
    case "rsa":
      return createSign("sha256").update(bytes).sign(rsa.privateKey).toString("base64url");
    case "pem-as-secret":
      return hmac(ec.publicKey.export({ type: "spki", format: "pem" }).toString());
    case "jwk-as-secret":
      return hmac(JSON.stringify(jwk));
    case "x-as-secret":
      return hmac(Buffer.from(String(jwk.x), "base64url"));
    case "none":
      return "";
    case "zero":
      return Buffer.alloc(64).toString("base64url");
    case "der":
      return ecdsa(ec.privateKey, "der");
    default:
      return ecdsa(ec.privateKey, "ieee-p1363");
  }
}

const segment = (value: unknown): string =>
  (Buffer.isBuffer(value) ? value : Buffer.from(typeof value === "string" ? value : JSON.stringify(value))).toString(
    "base64url",
  );
