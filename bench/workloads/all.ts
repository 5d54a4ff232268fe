/** All workloads, in the order in which they run: those that leave the most behind come last. */
import { growth } from "./growth.ts";
import { afterCrash, atOnce, long } from "./many.ts";
import { confirm, stop } from "./people.ts";
import { rows } from "./rows.ts";
import { start, startOverHttp } from "./start.ts";
import { burst, comeBack, crowd } from "./stream.ts";
import type { Workload } from "./workload.ts";

export const WORKLOADS: readonly Workload[] = [
  start,
  startOverHttp,
  burst,
  crowd,
  comeBack,
  confirm,
  stop,
  atOnce,
  long,
  afterCrash,
  rows,
  growth,
];
