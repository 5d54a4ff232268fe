/**
 * The identity provider's public keys. Kept ten minutes; a key id that is not among them may cause one fetch a minute,
 * so that a flood of invented ids does not become a flood of requests; when the provider cannot be reached, keys that
 * are known serve for an hour more, and then nothing does: it fails closed.
 */
import { createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JWSHeaderParameters } from "jose";
import * as z from "zod";
import { readAtMost } from "./body.ts";

const FRESH_MS = 10 * 60_000;
const STALE_MS = 60 * 60_000;
const UNKNOWN_KID_MS = 60_000;
const AFTER_FAILURE_MS = 5_000;
const TIMEOUT_MS = 5_000;
const LOOK_MS = 20;
const MAX_BYTES = 256 * 1024;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) });
type LocalKeys = ReturnType<typeof createLocalJWKSet>;

type Key = z.infer<typeof KeySet>["keys"][number];

/** One key, one algorithm: its own or, where it names none, the first accepted one of its kind. Others are no keys here. */
function bound(key: Key, algorithms: readonly string[]): Key[] {
  const { alg = algorithms.find((name) => isOf(key, name)) } = key;
  return typeof alg === "string" && algorithms.includes(alg) && isOf(key, alg) ? [{ ...key, alg }] : [];
}

function isOf({ kty, crv }: Key, algorithm: string): boolean {
  if (kty === "RSA") return /^[RP]S/.test(algorithm);
  if (kty === "EC") return CURVES[algorithm] === crv;
  return kty === "OKP" && crv === "Ed25519" && (algorithm === "EdDSA" || algorithm === "Ed25519");
}
const CURVES: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

/** Nobody can be told apart now: the answer is 503, not 401. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

export interface RemoteKeysDeps {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  /** Those that are accepted at all: a key that names none has the one of these that its kind allows. */
  readonly algorithms: readonly string[];
  readonly pause?: (ms: number) => Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

export class RemoteKeys {
  readonly #deps: RemoteKeysDeps;
  #known: { readonly keys: LocalKeys; readonly at: number } | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failed = false;
  #fetching = false;

  constructor(deps: RemoteKeysDeps) {
    this.#deps = deps;
  }

  /** @throws KeysUnavailable, or jose's error for a key that is not among them */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const known = await this.#current();
    try {
      return await known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayFetchFor(UNKNOWN_KID_MS)) throw error;
      await this.#refresh();
      return this.#known === null ? known(header, token) : this.#known.keys(header, token);
    }
  }

  async #current(): Promise<LocalKeys> {
    const age = () => (this.#known === null ? Number.POSITIVE_INFINITY : this.#deps.now() - this.#known.at);
    if (age() > FRESH_MS && !this.#fetching && this.#mayFetchFor(this.#failed ? AFTER_FAILURE_MS : 0)) {
      await this.#refresh();
    }
    // Nobody may wait for another request's work, only look whether it is done: one crowd is one fetch.
    const { pause = sleep } = this.#deps;
    for (let waited = 0; this.#known === null && this.#fetching && waited < TIMEOUT_MS; waited += LOOK_MS) {
      await pause(LOOK_MS);
    }
    if (this.#known === null || age() > STALE_MS) throw new KeysUnavailable();
    return this.#known.keys;
  }

  #mayFetchFor(pauseMs: number): boolean {
    return this.#deps.now() - this.#triedAt >= pauseMs;
  }

  /** Never throws: what is known stays known. */
  async #refresh(): Promise<void> {
    this.#triedAt = this.#deps.now();
    this.#fetching = true;
    try {
      const keys = await this.#fetchKeys();
      this.#known = { keys, at: this.#deps.now() };
      this.#failed = false;
    } catch {
      this.#failed = true;
    } finally {
      this.#fetching = false;
    }
  }

  async #fetchKeys(): Promise<LocalKeys> {
    const answer = await this.#deps.fetch(this.#deps.url, {
      headers: { accept: "application/jwk-set+json, application/json" },
      // A redirect would let whoever controls one path of the provider's host choose our keys.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status !== 200) throw new Error(`the key set answered ${answer.status}`);
    const bytes = await readAtMost(answer.body, MAX_BYTES);
    if (bytes === null) {
      await answer.body?.cancel();
      throw new Error("the key set is too large");
    }
    const set = KeySet.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return createLocalJWKSet({ keys: set.keys.flatMap((key) => bound(key, this.#deps.algorithms)) });
  }
}
