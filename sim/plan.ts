/**
 * A schedule before it runs: who does what and when, and what goes wrong. All of it follows from the seed; `without`
 * leaves things out, so that a failing schedule can be made smaller without becoming another one.
 */
import { randomOf, type Random } from "./random.ts";
import { configOf, emphasisOf, swarm, type Config, type Emphasis } from "./config.ts";

export const OPS = [
  "start",
  "cancel",
  "retry",
  "retry_unstarted",
  "cancel_queued",
  "edit_queued",
  "drop_queued",
  "resolve",
  "stray_decision",
  "continue",
  "take_over",
  "operator_says",
  "release",
  "rename",
  "share",
  "unshare",
  "reconnect",
  "disconnect",
  "resend_old",
  "reuse_key",
  "stranger",
  "pause_reading",
  "read",
  "delete",
] as const;
export type OpKind = (typeof OPS)[number];

export interface Op {
  readonly index: number;
  readonly at: number;
  readonly kind: OpKind;
  readonly user: string;
}

/** Moments at which a death hurts most. */
export const STRIKES = ["tool", "model", "told", "stopped"] as const;
export type Strike = (typeof STRIKES)[number];

export type Fault =
  | { readonly index: number; readonly kind: "crash"; readonly point: "write" | "before" | "after"; readonly n: number }
  | {
      readonly index: number;
      readonly kind: "crash";
      readonly point: "release";
      readonly n: number;
      readonly left: number;
    }
  | { readonly index: number; readonly kind: "kill"; readonly mode: "crash" | "evict" | "zombie"; readonly at: number }
  | {
      readonly index: number;
      readonly kind: "struck";
      readonly mode: "crash" | "evict" | "zombie";
      /** The n-th of these has left, and so many ms later the object dies. */
      readonly by: Strike;
      readonly n: number;
      readonly ms: number;
    }
  | { readonly index: number; readonly kind: "write_refused"; readonly n: number }
  | {
      readonly index: number;
      readonly kind: "alarm";
      readonly how: "late" | "twice" | "early" | "lost";
      readonly n: number;
    }
  | {
      readonly index: number;
      readonly kind: "history";
      readonly how: "before" | "after" | "stall" | "outage" | "poison";
      readonly n: number;
    };

export interface Without {
  readonly ops?: readonly number[];
  readonly faults?: readonly number[];
  /** Tool calls to which nobody reacts. */
  readonly reactions?: readonly string[];
}

/** What the model and the people do, where nothing is left to chance. */
export interface Script {
  /** The tools that the model calls in this step of this run; none: it answers. */
  readonly calls: (run: number, step: number) => readonly string[];
}

export interface Plan {
  readonly seed: number;
  readonly config: Config;
  readonly ops: readonly Op[];
  readonly faults: readonly Fault[];
  readonly quiet: ReadonlySet<string>;
  readonly script?: Script;
  /** Nobody but the owner is there. */
  readonly alone?: boolean;
  /** Its own, where one seed is played several times. */
  readonly tenant?: string;
}

const USERS = ["alice", "alice", "bob", "carol"] as const;

const OP = {
  start: 8,
  cancel: 4,
  retry: 2.5,
  retry_unstarted: 0.6,
  cancel_queued: 0.8,
  edit_queued: 1,
  drop_queued: 1,
  resolve: 5,
  stray_decision: 1.5,
  continue: 3,
  take_over: 1,
  operator_says: 1,
  release: 1.2,
  rename: 0.5,
  share: 0.5,
  unshare: 0.5,
  reconnect: 3,
  disconnect: 0.7,
  resend_old: 1.5,
  reuse_key: 0.7,
  stranger: 0.5,
  pause_reading: 0.7,
  read: 1,
  delete: 0.12,
} as const satisfies Record<OpKind, number>;

type FaultKind = "crash" | "kill" | "struck" | "write_refused" | "alarm" | "history";

function faultsOf(random: Random, emphasis: Emphasis | null): Fault[] {
  const faults: Fault[] = [];
  const weights = { crash: 4, kill: 1.5, struck: 5, write_refused: 0.8, alarm: 1.5, history: 1.5 } as const;
  const swarmed = swarm(random, weights, [random.pick(["crash", "struck", "struck", "alarm", "history"])]);
  const kinds: Record<FaultKind, number> =
    emphasis === "history"
      ? { ...swarmed, history: 12, struck: 3 }
      : emphasis === "stop"
        ? { ...swarmed, struck: 12 }
        : swarmed;
  const count = emphasis === "history" ? random.pick([2, 3, 4, 6]) : random.pick([0, 1, 1, 2, 2, 3, 5]);
  for (let index = 0; index < count; index++) {
    const kind = random.weighted(kinds);
    switch (kind) {
      case "crash": {
        const point = random.pick(["write", "before", "after", "release"]);
        const n = 1 + random.logBelow(point === "write" ? 400 : 150);
        if (point === "release") faults.push({ index, kind, point, n, left: random.pick([0, 0, 1, 2]) });
        else faults.push({ index, kind, point, n });
        // Recovery must itself survive a crash.
        if (random.chance(0.3) && point === "write") {
          faults.push({ index: 100 + index, kind, point, n: n + random.between(1, 12) });
        }
        break;
      }
      case "kill":
        faults.push({ index, kind, mode: random.pick(["crash", "evict", "zombie"]), at: random.between(50, 60_000) });
        break;
      case "struck": {
        const by =
          emphasis === "stop" ? "stopped" : random.pick(["tool", "tool", "model", "told", "stopped", "stopped"]);
        faults.push({
          index,
          kind,
          mode: random.pick(["crash", "crash", "evict", "zombie"]),
          by,
          n: by === "stopped" ? 1 : random.between(1, 5),
          ms: random.pick([0, 3, 40, 400]),
        });
        // Recovery must itself survive a death, and several.
        for (let more = 1; random.chance(0.4) && more < 4; more++) {
          faults.push({
            index: 100 * more + index,
            kind,
            mode: "crash",
            by: "model",
            n: more,
            ms: random.pick([0, 3, 40]),
          });
        }
        break;
      }
      case "write_refused":
        faults.push({ index, kind, n: 30 + random.logBelow(300) });
        break;
      case "alarm":
        faults.push({ index, kind, how: random.pick(["late", "twice", "early", "lost"]), n: random.between(1, 4) });
        break;
      case "history":
        faults.push({
          index,
          kind,
          how: random.pick(["before", "after", "stall", "outage", "poison"]),
          n: 1 + random.logBelow(12),
        });
        break;
    }
  }
  return faults;
}

function opsOf(random: Random, emphasis: Emphasis | null): Op[] {
  const swarmed = swarm(random, OP, ["start"]);
  const weights: Record<OpKind, number> =
    emphasis === "stop" ? { ...swarmed, cancel: 12 } : emphasis === "doubt" ? { ...swarmed, retry: 8 } : swarmed;
  const count = random.pick([2, 4, 6, 6, 9, 14]);
  const pace = random.pick([300, 2_000, 8_000]);
  const ops: Op[] = [{ index: 0, at: 20, kind: "start", user: "alice" }];
  let at = 20;
  for (let index = 1; index < count; index++) {
    at += random.below(pace);
    ops.push({ index, at, kind: random.weighted(weights), user: random.pick(USERS) });
  }
  return ops;
}

export function planOf(seed: number, without: Without = {}): Plan {
  const left = (given: readonly number[] | undefined) => (one: { readonly index: number }) =>
    !given?.includes(one.index);
  const emphasis = emphasisOf(seed);
  return {
    seed,
    config: configOf(randomOf(seed, "config"), emphasis),
    ops: opsOf(randomOf(seed, "ops"), emphasis).filter(left(without.ops)),
    faults: faultsOf(randomOf(seed, "faults"), emphasis).filter(left(without.faults)),
    quiet: new Set(without.reactions),
  };
}
