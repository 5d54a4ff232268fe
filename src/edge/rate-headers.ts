/** `RateLimit` and `RateLimit-Policy`, as structured fields (draft-ietf-httpapi-ratelimit-headers). */
import type { RateState } from "../protocol/problems.ts";

export function rateHeaders({ policy, limit, windowS, remaining, resetS }: RateState): Record<string, string> {
  return {
    "ratelimit-policy": limit === undefined ? `"${policy}";w=${windowS}` : `"${policy}";q=${limit};w=${windowS}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetS}`,
  };
}
