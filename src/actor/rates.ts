/**
 * How fast one person may command one conversation: an exact token bucket for each, in the memory of the one object that
 * all of it goes through. A life that ends forgets them, which only helps who has been quiet long enough to let it end.
 */
import { reject, type RateState, type Rejection } from "../protocol/problems.ts";

export interface RateSettings {
  /** What a full bucket holds. */
  readonly burst: number;
  readonly perMinute: number;
}

interface Bucket {
  readonly tokens: number;
  /** Epoch ms, of `tokens`. */
  readonly at: number;
  /** Refused in a row. */
  readonly refused: number;
}

/** Buckets that are full again are forgotten when there are so many. */
const REMEMBERED = 512;

export class Rates {
  readonly #settings: RateSettings | null;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param settings null: no limit */
  constructor(settings: RateSettings | null, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Takes one token. null: there was one. */
  spend(userId: string): Rejection | null {
    if (!this.#settings) return null;
    const bucket = this.#filled(userId, this.#settings);
    if (bucket.tokens >= 1) {
      this.#keep(userId, { ...bucket, tokens: bucket.tokens - 1, refused: 0 }, this.#settings);
      return null;
    }
    this.#keep(userId, { ...bucket, refused: bucket.refused + 1 }, this.#settings);
    const retryAfterMs = Math.ceil(((1 - bucket.tokens) * 60_000) / this.#settings.perMinute);
    const rate = stateOf(bucket, this.#settings);
    return reject("rate_limited", "Too many commands in this conversation. Try again a little later.", {
      retryAfterMs,
      rate,
    });
  }

  /** Whoever goes on for as long as a bucket is deep is not going to stop by being told. */
  overdrawn(userId: string): boolean {
    const { refused = 0 } = this.#buckets.get(userId) ?? {};
    return this.#settings !== null && refused > this.#settings.burst;
  }

  /** For the answer's headers; null: no limit. */
  state(userId: string): RateState | null {
    return this.#settings && stateOf(this.#filled(userId, this.#settings), this.#settings);
  }

  #filled(userId: string, { burst, perMinute }: RateSettings): Bucket {
    const now = this.#now();
    const known = this.#buckets.get(userId);
    if (!known) return { tokens: burst, at: now, refused: 0 };
    const gained = (Math.max(0, now - known.at) * perMinute) / 60_000;
    return { ...known, tokens: Math.min(burst, known.tokens + gained), at: now };
  }

  #keep(userId: string, bucket: Bucket, settings: RateSettings): void {
    if (this.#buckets.size >= REMEMBERED) {
      for (const known of this.#buckets.keys()) {
        if (this.#filled(known, settings).tokens >= settings.burst) this.#buckets.delete(known);
      }
    }
    this.#buckets.set(userId, bucket);
  }
}

function stateOf({ tokens }: Bucket, { burst, perMinute }: RateSettings): RateState {
  return {
    policy: "commands",
    limit: burst,
    windowS: Math.max(1, Math.round((burst * 60) / perMinute)),
    remaining: Math.floor(tokens),
    resetS: Math.max(0, Math.ceil(((burst - tokens) * 60) / perMinute)),
  };
}
