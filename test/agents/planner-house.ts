/** The planner with its plans in D1, or behind a REST gateway. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { splitStatements } from "../../src/sql/statements.ts";
import { asD1 } from "../tools/sqlite-d1.ts";
import { payloadOf, type HouseOptions } from "./agent-house.ts";

const SCHEMA = readFileSync(join(import.meta.dirname, "../../migrations/app/0001_plans.sql"), "utf8");

export const GATEWAY_KEY = "gateway-key-1"; // not-a-secret

export function database() {
  const db = new DatabaseSync(":memory:");
  for (const statement of splitStatements(SCHEMA)) db.exec(statement);
  return db;
}

export const inD1 = (db = database()): HouseOptions => ({ agent: "planner", app: asD1(db) });
export const behindGateway = ({ url }: { readonly url: string }, key = GATEWAY_KEY): HouseOptions => ({
  agent: "planner",
  variables: { PLANS_REST_URL: url, PLANS_REST_KEY: key },
});
export const data = (answer: Parameters<typeof payloadOf>[0]) => payloadOf(answer).data as Record<string, unknown>;
