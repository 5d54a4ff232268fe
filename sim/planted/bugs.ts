/** The bugs that the simulation must find: each is a small change of a source, as somebody could make it by mistake. */
export interface PlantedBug {
  readonly name: string;
  readonly changes: readonly {
    /** Below `src/`. */
    readonly file: string;
    readonly find: string;
    readonly replace: string;
  }[];
  /** It is found within so many schedules. */
  readonly within: number;
}

export const BUGS: readonly PlantedBug[] = [];
