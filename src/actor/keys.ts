/**
 * One request, one key, one effect (**I6**): the receipts of this conversation, and the tenant's register, which knows
 * where a key has been used. It decides nothing about runs.
 *
 * The claim is made before the decision and stays when there is a receipt; whatever left none, refused or failed, uses
 * no key up. A crash in between leaves a claim that the same request finds again, and nobody else can use.
 */
import type { RequestContext } from "../protocol/principal.ts";
import { reject, type Result } from "../protocol/problems.ts";
import type { CommandAnswer } from "../protocol/rpc.ts";
import type { Answer } from "./command-answer.ts";
import type { Journal, Log, Receipt } from "./ports.ts";
import type { Claim, KeyRegistry } from "./tenant-ports.ts";

const KEY_REUSED = reject("idempotency_key_reused", "This key belongs to another request.");
const UNREGISTERED = reject("overloaded", "The key could not be registered.", { retryAfterMs: 1_000 });

export interface KeyDeps {
  readonly journal: Journal;
  readonly registry: KeyRegistry;
  readonly log: Log;
  /** An object that was never initialised has no tables to look into. */
  readonly initialised: () => boolean;
}

export class Keys {
  readonly #deps: KeyDeps;

  constructor(deps: KeyDeps) {
    this.#deps = deps;
  }

  /** The first answer, or the refusal of another request's key; null: there is no receipt. */
  replay({ key, digest }: Claim): Result<CommandAnswer> | null {
    const receipt = this.#receipt(key);
    if (!receipt) return null;
    if (receipt.digest !== digest) return { ok: false, rejection: KEY_REUSED };
    const status = receipt.status as CommandAnswer["status"];
    return { ok: true, value: { status, body: JSON.parse(receipt.body) as CommandAnswer["body"], replayed: true } };
  }

  /** Claims the key while `prepare` works: the register's round trip hides behind it, or the other way round. */
  async claimed<T>(
    { tenantId, requestId }: RequestContext,
    claim: Claim,
    prepare: () => Promise<T>,
    decide: (prepared: T) => Result<CommandAnswer>,
  ): Promise<Result<CommandAnswer>> {
    const claiming = this.#claim(tenantId, claim, requestId);
    let answer: Result<CommandAnswer> | null = null;
    try {
      const prepared = await prepare();
      const claimed = await claiming;
      // Unknown is not given back: a claim that was made after all may be a twin's by now.
      if (claimed === null) return { ok: false, rejection: UNREGISTERED };
      if (!claimed) return { ok: false, rejection: KEY_REUSED };
      answer = decide(prepared);
      return answer;
    } finally {
      if (answer?.ok !== true && (await claiming) === true) await this.#giveBack(tenantId, claim, requestId);
    }
  }

  async #claim(tenantId: string, claim: Claim, requestId: string): Promise<boolean | null> {
    try {
      return await this.#deps.registry.claim(tenantId, claim);
    } catch (error) {
      this.#deps.log.error("registry_unavailable", error, { requestId });
      return null;
    }
  }

  async #giveBack(tenantId: string, claim: Claim, requestId: string): Promise<void> {
    const { registry, log } = this.#deps;
    try {
      // What threw after its commit has happened, and keeps its key.
      if (this.#receipt(claim.key)) return;
      await registry.release(tenantId, claim);
    } catch (error) {
      log.error("registry_unavailable", error, { requestId });
    }
  }

  #receipt(key: string): Receipt | null {
    return this.#deps.initialised() ? this.#deps.journal.receipt(key) : null;
  }
}

export const receiptOf = ({ key, digest }: Claim, { status, body }: Answer): Receipt => ({
  key,
  digest,
  status,
  body: JSON.stringify(body),
});
