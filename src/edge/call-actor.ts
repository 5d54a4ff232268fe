/**
 * Asking an actor. A refusal is a value and passes through; a throw is the weather: an overloaded object is never asked
 * again, a passing fault is asked again only where asking twice is the same as asking once.
 */
import type { RequestContext } from "../protocol/principal.ts";
import type { Result } from "../protocol/problems.ts";
import type { Actor, EdgePorts } from "./ports.ts";
import { INTERNAL, OVERLOADED } from "./problems.ts";

/** First time included. */
const ATTEMPTS = 3;
const PAUSE_MS = 50;

export interface ActorCall<T> {
  readonly context: RequestContext;
  readonly conversationId: string;
  /** A read, a keyed command, or one that has the same effect twice. */
  readonly repeatable: boolean;
  readonly ask: (actor: Actor) => Promise<Result<T>>;
}

export async function callActor<T>(ports: EdgePorts, call: ActorCall<T>): Promise<Result<T>> {
  const { context, conversationId } = call;
  for (let attempt = 1; ; attempt++) {
    try {
      const asked = ports.actor({ id: context.tenantId }, conversationId).then(call.ask);
      const answer = await within(asked, (context.deadlineAt ?? Number.POSITIVE_INFINITY) - ports.now());
      if (answer !== LATE) return answer;
      ports.log.warn("actor_late", { requestId: context.requestId, conversationId });
      return { ok: false, rejection: OVERLOADED };
    } catch (error) {
      const fault = faultOf(error);
      const again = fault === "passing" && call.repeatable && attempt < ATTEMPTS;
      ports.log.error("actor_call_failed", error, {
        requestId: context.requestId,
        traceId: context.traceId,
        conversationId,
        attempt,
        kind: fault,
        retryable: again,
      });
      if (!again) return { ok: false, rejection: fault === "bug" ? INTERNAL : OVERLOADED };
      await new Promise((done) => setTimeout(done, PAUSE_MS * attempt));
    }
  }
}

/** What the platform says about an exception that crossed from an object, in properties that it sets for this. */
export function faultOf(error: unknown): "overloaded" | "passing" | "bug" {
  if (typeof error !== "object" || error === null) return "bug";
  if ("overloaded" in error && error.overloaded === true) return "overloaded";
  // A reset object has lost nothing that it acknowledged, and starts again at the next call.
  const passing =
    ("retryable" in error && error.retryable === true) ||
    ("durableObjectReset" in error && error.durableObjectReset === true);
  return passing ? "passing" : "bug";
}

const LATE = Symbol("late");

/** The promise's outcome, or LATE. What comes after is dropped, not unhandled. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | typeof LATE> {
  if (!Number.isFinite(ms)) return promise;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(0, ms));
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
