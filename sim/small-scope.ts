/**
 * A conversation so small that everything can be tried: two runs, two calls that act, one of them gated, one crash. Every
 * order in which the commands can come, at several distances from each other, and for each every place to die.
 */
import { check } from "./check/check.ts";
import type { Violation } from "./observation.ts";
import { MODEL_KINDS, REACTIONS, TOOL_KINDS, type Config } from "./config.ts";
import type { Fault, Plan } from "./plan.ts";
import { World, type Shared } from "./world.ts";

export const ACTS = ["second", "approve", "cancel"] as const;
type Act = (typeof ACTS)[number];

export interface Interleaving {
  readonly order: readonly Act[];
  /** Turns of the object between one command and the next. */
  readonly gaps: readonly number[];
}

const GAPS = [0, 2, 5] as const;

export function interleavings(): Interleaving[] {
  const orders = permutations(ACTS);
  return orders.flatMap((order) => {
    // Without the cancel too: a run that nobody stops.
    const shorter = order.at(-1) === "cancel" ? [order, order.slice(0, -1)] : [order];
    return shorter.flatMap((acts) => combinations(acts.length).map((gaps) => ({ order: acts, gaps })));
  });
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

const combinations = (length: number): number[][] =>
  length === 0 ? [[]] : combinations(length - 1).flatMap((rest) => GAPS.map((gap) => [gap, ...rest]));

function onlyOf<K extends string>(names: readonly K[], only: NoInfer<K>): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, name === only ? 1 : 0])) as Record<K, number>;
}

const CALM: Config = {
  model: onlyOf(MODEL_KINDS, "text"),
  tool: onlyOf(TOOL_KINDS, "ok"),
  reaction: onlyOf(REACTIONS, "ignore"),
  calls: 1,
  lagMs: 0,
  slowAnswers: false,
  lostAnswers: 0,
  doubled: 0,
  lostClaims: 0,
  overSocket: 0,
  heavyFrames: false,
  lateLanding: 0,
  gates: { expiresInMs: 3_600_000, quorum: 1, selfApproval: true },
  limits: { maxRunMs: 900_000 },
  policy: { onLimit: "stop", handoverOnLimit: false, modelRetries: 0, cancelGraceMs: 10_000, backoffMs: 1_000 },
  settings: { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000 },
  bounds: {},
  ending: "people",
};

const planWith = (seed: number, tenant: string, faults: readonly Fault[]): Plan => {
  const calls = (run: number, step: number) => (run === 1 && step === 1 ? ["note", "transfer"] : []);
  return { seed, config: CALM, ops: [], faults, quiet: new Set(), script: { calls }, alone: true, tenant };
};

export interface Played {
  readonly violations: readonly Violation[];
  readonly positions: { readonly turns: number; readonly writes: number; readonly released: readonly number[] };
}

/** @param tenant its own for each play */
export async function playSmall(
  seed: number,
  tenant: string,
  { order, gaps }: Interleaving,
  faults: readonly Fault[],
  shared: Shared,
): Promise<Played> {
  const plan = planWith(seed, tenant, faults);
  const world = new World(plan, shared);
  const { kernel, object, crowd } = world;
  const positions = { turns: 0, writes: 0, released: [] as readonly number[] };
  const seen = await world.run(async () => {
    crowd.begin();
    const turns = async (more: number) => {
      const until = object.turns + more;
      while (object.turns < until && (await kernel.step(kernel.now + 2_000))) continue;
    };
    while (!crowd.created && (await kernel.step(kernel.now + 60_000))) continue;
    crowd.start("alice");
    for (const [at, act] of order.entries()) {
      await turns(gaps[at] ?? 0);
      if (act === "second") crowd.start("alice");
      if (act === "cancel")
        crowd.send("alice", {
          type: "cancel_run",
          runId: `${world.observation.conversationId}.r1`,
          body: { reason: "no" },
        });
      if (act === "approve") crowd.approveWhenAsked();
    }
    await kernel.run(kernel.now + 40_000, kernel.steps + 5_000);
    Object.assign(positions, { turns: object.turns, writes: object.writes, released: [...object.released] });
  });
  return { violations: check(seen, plan), positions };
}

/** Every place to die that the undisturbed schedule has. */
export function deaths({ turns, writes, released }: Played["positions"]): Fault[] {
  const faults: Fault[] = [];
  const crash = { index: 0, kind: "crash" } as const;
  for (let n = 1; n <= turns; n++) faults.push({ ...crash, point: "before", n }, { ...crash, point: "after", n });
  for (let n = 1; n <= writes; n++) faults.push({ ...crash, point: "write", n });
  released.forEach((count, at) => {
    for (let left = 0; left <= count; left++) faults.push({ ...crash, point: "release", n: at + 1, left });
  });
  return faults;
}

export interface ScopeResult {
  readonly played: number;
  readonly failed: readonly {
    readonly interleaving: Interleaving;
    readonly death: Fault | null;
    readonly violations: readonly Violation[];
  }[];
}

/** One interleaving, undisturbed and with each death. */
export async function playAll(seed: number, interleaving: Interleaving, shared: () => Shared): Promise<ScopeResult> {
  const failed: ScopeResult["failed"][number][] = [];
  const play = async (death: Fault | null, n: number) => {
    const played = await playSmall(seed, `s${seed}-${n}`, interleaving, death ? [death] : [], shared());
    const { violations } = played;
    if (violations.length > 0) failed.push({ interleaving, death, violations });
    return played;
  };
  const { positions } = await play(null, 0);
  const all = deaths(positions);
  for (const [at, death] of all.entries()) await play(death, at + 1);
  return { played: all.length + 1, failed };
}
