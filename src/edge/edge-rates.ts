/**
 * The platform's own rate limits, asked where a request arrives: counted per place and roughly, so they are the first line
 * and no quota. One user's requests, and one tenant's, whatever they are for.
 */
import { reject, type Rejection } from "../protocol/problems.ts";

/** As much of the platform's binding as this takes. */
export interface RateBinding {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>;
}

/** Absent: this deployment has none. */
export interface RateBindings {
  readonly RATE_USER?: RateBinding;
  readonly RATE_TENANT?: RateBinding;
}

/** Of both bindings in `wrangler.toml`. */
const PERIOD_S = 60;

const refusal = (policy: string, whose: string): Rejection =>
  reject("rate_limited", `Too many requests of this ${whose}. Try again in a minute.`, {
    retryAfterMs: PERIOD_S * 1_000,
    rate: { policy, windowS: PERIOD_S, remaining: 0, resetS: PERIOD_S },
  });
const USER = refusal("user", "user");
const TENANT = refusal("tenant", "tenant");

export function edgeRates({ RATE_USER, RATE_TENANT }: RateBindings) {
  return async (tenantId: string, userId: string): Promise<Rejection | null> => {
    // Each with its length: no two people share a bucket.
    const user = `${tenantId.length}:${tenantId}${userId}`;
    const [ofUser, ofTenant] = await Promise.all([
      RATE_USER?.limit({ key: user }),
      RATE_TENANT?.limit({ key: tenantId }),
    ]);
    if (ofUser?.success === false) return USER;
    return ofTenant?.success === false ? TENANT : null;
  };
}
