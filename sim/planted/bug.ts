import type { Emphasis } from "../config.ts";

/** A bug that the simulation must find: a small change of a source, as somebody could make it by mistake. */
export interface PlantedBug {
  readonly name: string;
  /** It is found within so many schedules. */
  readonly within: number;
  /** Schedules that dwell on this are played before the others. */
  readonly likely?: Emphasis;
  readonly changes: readonly Change[];
}

export interface Change {
  /** Below `src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const bug = (name: string, within: number, file: string, find: string, replace: string): PlantedBug => ({
  name,
  within,
  changes: [{ file, find, replace }],
});

/** Found soonest by schedules that dwell on this. */
export const likelyIn = (likely: Emphasis, one: PlantedBug): PlantedBug => ({ ...one, likely });
