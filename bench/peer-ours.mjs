/** For the comparison harness, whose peers are plain modules: `import { ours } from "<this file>"`, on Node 24. */
export { ours, RAISED } from "./peer-ours.ts";
