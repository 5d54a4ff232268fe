/**
 * What this isolate knows of standings, each for a moment only: within it nobody is asked again. Whoever changes a
 * standing waits that moment out before answering, so that an answered change holds everywhere.
 *
 * Fails closed: where the tenant's object cannot be asked, nobody's sign-in counts.
 */
import type { Command } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { checkPause, checkSignIn, type Standing } from "../protocol/standing.ts";

/** At most so many are remembered; beyond that all are asked for anew. */
const REMEMBERED = 10_000;

export interface LeaseDeps {
  readonly ask: (tenantId: string, userId: string) => Promise<Standing>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly leaseMs: number;
  readonly failed: (error: unknown) => void;
}

type Who = Pick<Principal, "tenantId" | "userId" | "tokenEpoch">;

const UNKNOWN = reject("overloaded", "Whether this sign-in still counts cannot be told now. Try again.", {
  retryAfterMs: 1_000,
});

export class StandingLeases {
  readonly #deps: LeaseDeps;
  readonly #known = new Map<string, { readonly standing: Standing; readonly at: number }>();

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** @throws what the tenant's object threw */
  async of(tenantId: string, userId: string): Promise<Standing> {
    const key = keyOf(tenantId, userId);
    // From before the question was asked: the answer may be as old as that.
    const at = this.#deps.now();
    const known = this.#known.get(key);
    if (known && at - known.at < this.#deps.leaseMs && at >= known.at) return known.standing;
    const standing = await this.#deps.ask(tenantId, userId);
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, { standing, at });
    return standing;
  }

  /** null: the sign-in counts, and the command (where there is one) may be done now. */
  async refusal(who: Who, command?: Command): Promise<Rejection | null> {
    try {
      const standing = await this.of(who.tenantId, who.userId);
      return checkSignIn(who, standing) ?? (command ? checkPause(command, standing) : null);
    } catch (error) {
      this.#deps.failed(error);
      return UNKNOWN;
    }
  }

  /** As far as is known here, without asking: for what may not wait. */
  revoked(who: Who): boolean {
    const known = this.#known.get(keyOf(who.tenantId, who.userId));
    return known !== undefined && checkSignIn(who, known.standing) !== null;
  }
}

const keyOf = (tenantId: string, userId: string): string => `${tenantId.length}:${tenantId}${userId}`;
