/**
 * Migrates the local databases, so that `wrangler dev` alone serves. A root, for development only: a deployment runs
 * `wrangler d1 migrations apply`, which keeps the same books.
 */
import plans from "../migrations/app/0001_plans.sql";
import fleet from "../migrations/app/0002_fleet.sql";
import projection from "../migrations/history/0001_projection.sql";
import figures from "../migrations/history/0002_figures.sql";
import { migrateD1 } from "./sql/d1-migrations.ts";

export async function migrateLocally(env: Pick<Env, "APP" | "HISTORY">): Promise<string[]> {
  return [
    ...(await migrateD1(env.HISTORY, [
      { name: "0001_projection.sql", sql: projection },
      { name: "0002_figures.sql", sql: figures },
    ])),
    ...(await migrateD1(env.APP, [
      { name: "0001_plans.sql", sql: plans },
      { name: "0002_fleet.sql", sql: fleet },
    ])),
  ];
}
