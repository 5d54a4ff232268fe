/** How the world of a schedule is: what model, tools and people are likely to do, how slow and how small everything is. */
import type { RunPolicy } from "../src/protocol/events.ts";
import type { Random } from "./random.ts";

export const MODEL_KINDS = [
  "text",
  "plan",
  "empty",
  "refused",
  "truncated_calls",
  "truncated_text",
  "failed",
  "failed_after_text",
  "cut",
  "silent",
  "stalls",
  "no_budget",
] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

export const TOOL_KINDS = [
  "ok",
  "refused",
  "not_sent",
  "broken_before",
  "broken_after",
  "reset_after",
  "lost",
  "hangs",
  "hangs_applied",
  "late",
  "contract",
] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export const REACTIONS = [
  "approve",
  "approve_twice",
  "reject",
  "edit",
  "edit_changed",
  "edit_invalid",
  "race",
  "wrong_digest",
  "stale",
  "ignore",
  "cancel",
] as const;
export type Reaction = (typeof REACTIONS)[number];

export interface Config {
  readonly lagMs: number;
  readonly slowAnswers: boolean;
  readonly model: Record<ModelKind, number>;
  readonly tool: Record<ToolKind, number>;
  readonly reaction: Record<Reaction, number>;
  readonly lostAnswers: number;
  readonly doubled: number;
  readonly lostClaims: number;
  readonly overSocket: number;
  readonly heavyFrames: boolean;
  readonly lateLanding: number;
  readonly gates: { readonly expiresInMs: number; readonly quorum: number; readonly selfApproval: boolean };
  readonly limits: Record<string, number>;
  readonly policy: RunPolicy;
  readonly settings: { watchdogMs: number; checkpointMs: number; outboxMs: number };
  /** Bounds of the service, made small. */
  readonly bounds: Record<string, number>;
  readonly calls: number;
  readonly ending: "people" | "nobody";
}

/** A random subset of the alphabet: what is never done together would never be found together. */
export function swarm<K extends string>(
  random: Random,
  base: Readonly<Record<K, number>>,
  always: readonly NoInfer<K>[],
): Record<K, number> {
  const weights: Record<K, number> = { ...base };
  const share = random.pick([0.2, 0.5, 0.9]);
  for (const name of Object.keys(weights) as K[]) {
    if (!always.includes(name) && !random.chance(share)) weights[name] = 0;
  }
  return weights;
}

const MODEL = {
  text: 6,
  plan: 10,
  empty: 1,
  refused: 0.5,
  truncated_calls: 1,
  truncated_text: 0.5,
  failed: 1.5,
  failed_after_text: 1,
  cut: 1,
  silent: 0.7,
  stalls: 1,
  no_budget: 1.5,
} as const satisfies Record<ModelKind, number>;
const TOOL = {
  ok: 8,
  refused: 1.5,
  not_sent: 1,
  broken_before: 1.5,
  broken_after: 1.5,
  reset_after: 1.5,
  lost: 1,
  hangs: 0.7,
  hangs_applied: 0.7,
  late: 1,
  contract: 1,
} as const satisfies Record<ToolKind, number>;
const REACTION = {
  approve: 10,
  approve_twice: 2,
  reject: 2,
  edit: 1.5,
  edit_changed: 1,
  edit_invalid: 0.5,
  race: 2,
  wrong_digest: 1,
  stale: 0.7,
  ignore: 1.5,
  cancel: 1.5,
} as const satisfies Record<Reaction, number>;
/**
 * A part of the seeds dwells on something that is rare elsewhere: on the history, on stops that are slow to settle, or
 * on calls of which nobody knows what became. The seed alone says so.
 */
export type Emphasis = "history" | "stop" | "doubt";
const EMPHASES: Partial<Record<number, Emphasis>> = { 4: "history", 6: "stop", 2: "doubt" };
export const emphasisOf = (seed: number): Emphasis | null => EMPHASES[seed % 10] ?? null;

/** With these weights raised, whatever the swarm made of them. */
function raised<K extends string>(weights: Record<K, number>, more: Partial<Record<K, number>>): Record<K, number> {
  return { ...weights, ...more };
}

export function configOf(random: Random, emphasis: Emphasis | null = null): Config {
  const config = drawn(random);
  switch (emphasis) {
    case null:
      return config;
    case "history":
      return { ...config, lateLanding: 1, settings: { ...config.settings, outboxMs: 5_000 } };
    case "stop": {
      const tool = raised(config.tool, { hangs: 4, hangs_applied: 4, late: 4 });
      return { ...config, tool, policy: { ...config.policy, cancelGraceMs: 10_000 } };
    }
    case "doubt":
      return { ...config, tool: raised(config.tool, { broken_after: 4, reset_after: 4, hangs_applied: 2 }) };
  }
}

function drawn(random: Random): Config {
  return {
    lagMs: random.pick([0, 0, 0, 5, 20]),
    slowAnswers: random.chance(0.3),
    model: swarm(random, MODEL, ["text", "plan"]),
    tool: swarm(random, TOOL, ["ok"]),
    reaction: swarm(random, REACTION, ["approve"]),
    lostAnswers: random.pick([0, 0, 0.1, 0.4]),
    doubled: random.pick([0, 0, 0.1, 0.4]),
    lostClaims: random.pick([0, 0, 0, 0.1, 0.3]),
    overSocket: random.pick([0, 0.5, 1]),
    heavyFrames: random.chance(0.15),
    lateLanding: random.pick([0, 0.5, 1]),
    gates: {
      expiresInMs: random.pick([2_000, 60_000, 3_600_000, 86_400_000]),
      quorum: random.pick([1, 1, 1, 2]),
      selfApproval: random.chance(0.9),
    },
    limits: {
      maxSteps: random.pick([25, 25, 2, 1]),
      maxToolErrors: random.pick([3, 3, 1]),
      maxSameFailure: random.pick([2, 2, 5]),
      maxRunTokens: random.pick([400_000, 400_000, 400_000, 40]),
      maxRunMs: random.pick([900_000, 900_000, 30_000, 5_000]),
      maxModelMs: random.pick([300_000, 20_000, 3_000]),
    },
    policy: {
      onLimit: random.pick(["stop", "ask"]),
      handoverOnLimit: random.chance(0.2),
      modelRetries: random.pick([0, 0, 1, 2]),
      cancelGraceMs: random.pick([10_000, 10_000, 200, 0]),
      backoffMs: random.pick([1_000, 1_000, 50]),
    },
    settings: {
      watchdogMs: random.pick([30_000, 30_000, 2_000]),
      checkpointMs: random.pick([1_000, 1_000, 0, 50]),
      outboxMs: random.pick([30_000, 5_000]),
    },
    bounds: {
      ...(random.chance(0.2) ? { queuedRuns: random.between(1, 3) } : {}),
      ...(random.chance(0.2) ? { catchUpEvents: random.between(1, 12) } : {}),
      ...(random.chance(0.15) ? { catchUpBytes: random.pick([400, 2_000, 8_000]) } : {}),
      ...(random.chance(0.2) ? { checkpointBytes: random.between(1, 60) } : {}),
    },
    calls: random.pick([1, 2, 2, 4]),
    ending: random.chance(0.7) ? "people" : "nobody",
  };
}
