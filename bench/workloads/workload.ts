/** A workload: what is asked of every side, and which figures it leaves behind. Times are microseconds. */
import type { Times } from "../model/model.ts";
import type { Side } from "../measure/side.ts";
import type { Ours } from "../peer-ours.ts";

export interface Surroundings {
  readonly sides: readonly Side[];
  /** Of the sides, the one that is ours. */
  readonly ours: Ours;
  readonly modelUrl: string;
  readonly quick: boolean;
  /** When the model was asked, and the tool called. */
  readonly times: (run: string) => Promise<Times>;
  /** Resolves when the run's caller has hung up at the model. */
  readonly aborted: (run: string) => Promise<Times>;
}

export interface Workload {
  readonly name: string;
  readonly about: string;
  /** Left out of a quick run. */
  readonly thorough?: true;
  readonly run: (surroundings: Surroundings) => Promise<void>;
}
