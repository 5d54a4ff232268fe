/**
 * Whether everybody on whom a call rests still counts, asked right before it is sent: who started the run, by the sign-in
 * that is stored with it, and who said yes. Fails closed: nothing is sent while that cannot be told.
 */
import type { Principal } from "../protocol/principal.ts";
import { checkSignIn, type Standing } from "../protocol/standing.ts";
import { epochOf } from "../protocol/time.ts";
import type { ToolError } from "../protocol/tool-result.ts";
import type { CallState } from "../run/state.ts";
import { ownError } from "./tool-result.ts";

/** @throws where it cannot be told */
export type StandingOf = (tenantId: string, userId: string) => Promise<Standing>;

/** null: all of them do. */
export async function discredited(
  { decisions, argsDigest }: Pick<CallState, "decisions" | "argsDigest">,
  starter: Principal,
  standingOf: StandingOf,
): Promise<ToolError | null> {
  const { tenantId, userId } = starter;
  const agreed = decisions.filter((one) => one.decision !== "reject" && !one.voided && one.argsDigest === argsDigest);
  const others = agreed.flatMap(({ by, at }) =>
    by.id === undefined || by.id === userId ? [] : [[by.id, at] as const],
  );
  const approvers = [...new Map(others)];
  try {
    const [own, ...theirs] = await Promise.all(
      [userId, ...approvers.map(([id]) => id)].map((id) => standingOf(tenantId, id)),
    );
    if (!own || checkSignIn(starter, own)) return ownError("scope_missing", { detail: "The sign-in counts no more." });
    // Whoever was let in again has not said again what the revoked sign-in said: it is as old as the yes, at least.
    const out = theirs.some((standing, n) => checkSignIn({ tokenEpoch: secondOf(approvers[n]?.[1]) }, standing));
    return out ? ownError("scope_missing", { detail: "Somebody who agreed counts no more." }) : null;
  } catch {
    return ownError("tool_failed", { retryable: true, detail: "Whether the sign-in counts cannot be told now." });
  }
}

const secondOf = (at: string | undefined): number => (at === undefined ? 0 : Math.floor(epochOf(at) / 1_000));
