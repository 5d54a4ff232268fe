import type { PlantedBug } from "./bug.ts";
import { RUN_BUGS } from "./bugs-run.ts";
import { SHELL_BUGS } from "./bugs-shell.ts";

/** All that must be found. */
export const BUGS: readonly PlantedBug[] = [...SHELL_BUGS, ...RUN_BUGS];
