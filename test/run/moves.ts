/**
 * Random things that may happen to a conversation. A move is plain data with small numbers, which are read against the
 * state as it then is: so every sequence is possible, and a failing one shrinks.
 */
import * as fc from "fast-check";
import { DAY, HOUR } from "./kit.ts";

const small = fc.nat({ max: 7 });

export const KINDS = [
  "read",
  "transfer",
  "note",
  "idempotent",
  "probeable",
  "pair",
  "strict",
  "brief",
  "refused",
] as const;
const CALLS = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 6 });
export const OUTCOMES = ["ok", "failed", "not_sent", "doubtful", "hopeless", "absent"] as const;
const who = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 2) }, small);

const MOVES = {
  go: fc.record({
    pick: small,
    calls: CALLS,
    final: fc.constantFrom(true, false, false, false),
    outcome: fc.constantFrom(...OUTCOMES, "ok", "ok", "ok", "doubtful"),
    decision: fc.constantFrom("approve", "approve", "approve", "approve", "reject", "edit"),
    resolution: fc.constantFrom("happened", "did_not_happen", "give_up"),
  }),
  start: fc.record({ busy: fc.constantFrom("enqueue", "reject", "replace"), who }),
  plan: fc.record({ calls: CALLS }),
  say: fc.record({
    what: fc.constantFrom(
      "final",
      "empty",
      "refused",
      "cut_text",
      "cut_calls",
      "aborted",
      "no_budget",
      "no_budget_until",
    ),
  }),
  fail: fc.record({
    code: fc.constantFrom("model_overloaded", "model_unauthorized", "context_too_long"),
    text: fc.constantFrom("", "so far"),
  }),
  tool: fc.record({ pick: small, outcome: fc.constantFrom(...OUTCOMES) }),
  stale: fc.record({ pick: small, outcome: fc.constantFrom(...OUTCOMES) }),
  decide: fc.record({
    pick: small,
    who,
    decision: fc.constantFrom("approve", "approve", "approve", "reject", "edit", "bad"),
  }),
  decide_all: fc.record({ who }),
  resolve: fc.record({ pick: small, who, outcome: fc.constantFrom("happened", "did_not_happen", "give_up") }),
  continue: fc.record({ who, decision: fc.constantFrom("continue", "stop") }),
  cancel: fc.record({ run: small, who }),
  retry: fc.record({ run: small, who }),
  edit_run: fc.record({ run: small, who }),
  drop: fc.record({ run: small, who }),
  take_over: fc.record({ who: fc.constantFrom(0, 4, 4) }),
  operator: fc.record({ say: fc.boolean() }),
  crash: fc.record({ shown: fc.boolean() }),
  wait: fc.record({ ms: fc.constantFrom(1, 500, 1_000, 10_000, 61_000, HOUR, DAY) }),
  deadline: fc.record({}),
  show: fc.record({}),
  budget: fc.record({}),
  pause: fc.record({ on: fc.constantFrom(true, false, false) }),
  warned: fc.record({ percent: fc.constantFrom(50, 80, 100) }),
  deactivate: fc.record({ who: fc.constantFrom(0, 1, 9) }),
  erase: fc.record({ really: small }),
};
type Moves = typeof MOVES;
export type MoveOf<K extends keyof Moves> = { readonly move: K } & (Moves[K] extends fc.Arbitrary<infer V> ? V : never);
export type Move = { [K in keyof Moves]: MoveOf<K> }[keyof Moves];

/** `go` does whatever the conversation waits for; the others may come at any time, and mostly come to nothing. */
const WEIGHTS: Partial<Record<keyof Moves, number>> = {
  go: 45,
  crash: 4,
  deadline: 3,
  start: 3,
  tool: 4,
  stale: 3,
  edit_run: 2,
};
export const moves = (maxLength: number): fc.Arbitrary<Move[]> =>
  fc.array(
    fc.oneof(
      ...(Object.keys(MOVES) as (keyof Moves)[]).map((move) => ({
        weight: WEIGHTS[move] ?? 1,
        arbitrary: (MOVES[move] as fc.Arbitrary<object>).map((over) => ({ move, ...over }) as Move),
      })),
    ),
    { minLength: 1, maxLength, size: "max" },
  );
