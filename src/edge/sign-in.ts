/**
 * Who is this? From `Authorization: Bearer` and from nowhere else: no cookie, no URL, no body, no default user. A
 * client learns whether it has no credential, a bad one or an old one, and nothing about why a bad one is bad.
 */
import { NO_CREDENTIAL, OVERLOADED } from "./problems.ts";
import { reject, type Rejection, type Result } from "../protocol/problems.ts";
import { utf8 } from "./bytes.ts";
import { DEVELOPMENT_RULES } from "./development-tokens.ts";
import { deriveKey } from "./keys.ts";
import { secretKeys } from "./secret-keys.ts";
import type { EdgeLog } from "./ports.ts";
import { KeysUnavailable, RemoteKeys } from "./remote-keys.ts";
import type { SignedIn } from "./request-context.ts";
import type { Settings, TokenRules } from "./settings.ts";
import { readToken, verifyToken, type KeyFinder, type Unverified, type Verified } from "./token-verifier.ts";
import type { Trace } from "./trace.ts";

/** @param url the request's, parsed once for everybody */
export type SignIn = (request: Request, url: URL, trace: Trace) => Promise<Result<SignedIn>>;

export interface SignInDeps {
  readonly settings: Settings;
  readonly log: EdgeLog;
  readonly now: () => number;
  readonly fetch: typeof fetch;
}

/** Tokens that are kept as read: of somebody who asks again and again, only the signature is computed anew. */
const READ_TOKENS = 256;

interface Issuer {
  readonly rules: TokenRules;
  readonly findKey: KeyFinder;
}

const BEARER = /^Bearer +([^\s,]+)$/i;
const IN_URL = ["access_token", "token", "id_token", "jwt", "ticket", "authorization", "api_key"];
const UNAUTHENTICATED = reject("unauthenticated", "The bearer token is not valid.");
const EXPIRED = reject("token_expired", "The bearer token has expired.");

export function signInWith({ settings, log, now, fetch }: SignInDeps): SignIn {
  const issuers = issuersOf(settings, now, fetch);
  const known = new Map<string, Unverified>();
  return async (request, url, trace) => {
    const header = request.headers.get("authorization");
    if (header === null) return refuse(NO_CREDENTIAL);
    // What stands in a URL stands in logs: the caller must learn that, even where the header would have sufficed.
    if (IN_URL.some((name) => url.searchParams.has(name))) return refuse(IN_URL_REFUSED);
    const [, token] = BEARER.exec(header) ?? [];
    const verified = token === undefined ? malformed : await verify(token, known, issuers, now());
    switch (verified.kind) {
      case "valid":
        return { ok: true, value: { ...verified, authHeader: header } };
      case "expired":
        return refuse(EXPIRED);
      case "unavailable":
        log.error("sign_in_unavailable", verified.cause, { requestId: trace.requestId });
        return refuse(OVERLOADED);
      case "invalid":
        log.info("sign_in_refused", { requestId: trace.requestId, reason: verified.reason });
        return refuse(UNAUTHENTICATED);
    }
  };
}

type Checked = Verified | { readonly kind: "unavailable"; readonly cause: unknown };
const malformed: Checked = { kind: "invalid", reason: "malformed" };

async function verify(
  token: string,
  known: Map<string, Unverified>,
  issuers: readonly Issuer[],
  now: number,
): Promise<Checked> {
  const read = known.get(token) ?? readToken(token);
  if (read === null) return malformed;
  // The unverified issuer only chooses the rules; they then demand that very issuer, signed with that issuer's key.
  const issuer = issuers.find(({ rules }) => rules.issuer === read.payload["iss"]);
  if (issuer === undefined) return { kind: "invalid", reason: "iss" };
  try {
    const verified = await verifyToken(token, read, issuer.rules, issuer.findKey, now);
    // Only what was once good: nobody without a sign-in can drive the others out.
    if (verified.kind === "valid") keep(token, read, known);
    return verified;
  } catch (cause) {
    if (cause instanceof KeysUnavailable) return { kind: "unavailable", cause };
    throw cause;
  }
}

function keep(token: string, read: Unverified, known: Map<string, Unverified>): void {
  if (known.has(token)) return;
  const [oldest] = known.keys();
  if (known.size >= READ_TOKENS && oldest !== undefined) known.delete(oldest);
  known.set(token, read);
}

function issuersOf(settings: Settings, now: () => number, fetch: typeof globalThis.fetch): Issuer[] {
  const issuers: Issuer[] = [];
  if (settings.devSignIn) {
    const findKey = secretKeys(() => deriveKey(settings.masterKey, "development-sign-in"));
    issuers.push({ rules: DEVELOPMENT_RULES, findKey });
  }
  if (settings.signIn !== null) {
    const { keys, rules } = settings.signIn;
    issuers.push({
      rules,
      findKey:
        keys.kind === "secret" ? secretKeys(async () => utf8(keys.secret)) : published(keys.url, rules.algorithms),
    });
  }
  return issuers;

  function published(url: string, algorithms: readonly string[]): KeyFinder {
    const remote = new RemoteKeys({ url, fetch, now, algorithms });
    return (header, token) => remote.find(header, token);
  }
}

const IN_URL_REFUSED = reject("invalid_request", "A credential in the URL is refused: it would stand in logs.");
const refuse = (rejection: Rejection): Result<never> => ({ ok: false, rejection });
