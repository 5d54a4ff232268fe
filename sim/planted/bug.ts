/** A bug that the simulation must find: a small change of a source, as somebody could make it by mistake. */
export interface PlantedBug {
  readonly name: string;
  /** It is found within so many schedules. */
  readonly within: number;
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
