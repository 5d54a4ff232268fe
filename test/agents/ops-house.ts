/** Opspilot on a database in memory, with a clock that only waiting and the test move. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { splitStatements } from "../../src/sql/statements.ts";
import { asD1 } from "../tools/sqlite-d1.ts";
import { agentHouse } from "./agent-house.ts";

const SCHEMA = readFileSync(join(import.meta.dirname, "../../migrations/app/0002_fleet.sql"), "utf8");
export const MINUTE = 60_000;
export const OPS_SCOPES = ["services:restart", "config:write", "incidents:write"];

export async function opsHouse(app?: D1Database) {
  const db = new DatabaseSync(":memory:");
  for (const statement of splitStatements(SCHEMA)) db.exec(statement);
  const clock = { now: 1_700_000_000_000, waits: 0, onWait: () => {} };
  const house = await agentHouse({
    agent: "opspilot",
    app: app ?? asD1(db),
    now: () => clock.now,
    wait: async (ms, signal) => {
      clock.onWait();
      signal.throwIfAborted();
      clock.waits++;
      clock.now += ms;
    },
  });
  const as = (who: Parameters<typeof house.as>[0] = {}) => house.as({ scopes: OPS_SCOPES, ...who });
  const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
  return { ...house, as, db, clock, count };
}
