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
  /** In the order of the ids. */
  readonly askAll: (tenantId: string, userIds: readonly string[]) => Promise<readonly Standing[]>;
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
    this.#keep(key, standing, at);
    return standing;
  }

  /** Asks about all of these people of one tenant anew, in one question. Never rejects: what is not learned is logged. */
  async learn(tenantId: string, userIds: readonly string[]): Promise<void> {
    const at = this.#deps.now();
    try {
      const standings = await this.#deps.askAll(tenantId, userIds);
      for (const [n, standing] of standings.entries()) this.#keep(keyOf(tenantId, userIds[n] ?? ""), standing, at);
    } catch (error) {
      this.#deps.failed(error);
    }
  }

  #keep(key: string, standing: Standing, at: number): void {
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, { standing, at });
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
