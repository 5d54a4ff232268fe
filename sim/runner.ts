/** Plays one schedule and judges it. Databases are shared by some hundred schedules, then made anew. */
import { check } from "./check/check.ts";
import { HistoryTables } from "./history.ts";
import type { Mark } from "./marks.ts";
import { marksOf } from "./marks-seen.ts";
import type { Observation, Violation } from "./observation.ts";
import { planOf, type Without } from "./plan.ts";
import { newRegister } from "./registry.ts";
import { World, type Shared } from "./world.ts";

export interface Judged {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly marks: readonly Mark[];
  /** The tool calls that there were. */
  readonly calls: readonly string[];
  /** Virtual. */
  readonly events: number;
  readonly steps: number;
}

const SCHEDULES_PER_DATABASE = 200;

export class Runner {
  #shared: Shared | null = null;
  #used = 0;
  /** With the databases that there are now: a seed is always the same tenant. */
  readonly #played = new Set<number>();

  async run(seed: number, without: Without = {}): Promise<Judged> {
    const plan = planOf(seed, without);
    let seen: Observation | null = null;
    try {
      if (this.#played.has(seed)) this.#used = SCHEDULES_PER_DATABASE;
      const world = new World(plan, this.databases());
      this.#played.add(seed);
      seen = world.observation;
      await world.run();
      const violations = check(seen, plan);
      const calls = seen.log.flatMap((event) => (event.type === "tool_call.proposed" ? [event.data.toolCallId] : []));
      const { length: events } = seen.log;
      return { seed, violations, marks: [...marksOf(seen)], calls, events, steps: world.kernel.steps };
    } catch (error) {
      // A schedule that cannot be played to its end has failed; the databases may have been left in the middle of it.
      this.#shared = null;
      const says = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { seed, violations: [{ law: "plays to its end", says }], marks: [], calls: [], events: 0, steps: 0 };
    }
  }

  /** For this schedule and some more. */
  databases(): Shared {
    if (this.#shared && this.#used++ < SCHEDULES_PER_DATABASE) return this.#shared;
    this.#used = 0;
    this.#played.clear();
    this.#shared?.history.close();
    this.#shared?.expected.close();
    this.#shared = { history: new HistoryTables(), expected: new HistoryTables(), register: newRegister(), stores: [] };
    return this.#shared;
  }
}
