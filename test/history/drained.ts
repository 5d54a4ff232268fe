/** A drain over a script's log and a history in memory, on a clock that the test moves. */
import { d1Destination } from "../../src/history/destination.ts";
import { HistoryDrain } from "../../src/history/drain.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { Lines, Outbox } from "./outbox.ts";
import { Script, START } from "./script.ts";
import { bring, everything, history } from "./support.ts";

export function drained(script: Script, db: D1OnNodeSqlite = history(), journal = new Outbox(script)) {
  const clock = { at: START, now: () => clock.at };
  const log = new Lines();
  const drain = new HistoryDrain({ journal, destination: d1Destination(db), clock, log, random: () => 0.5 });
  return { clock, log, journal, drain, db };
}

/** A log of so many messages and more events. */
export function chat(turns: number, say: (turn: number) => string = (turn) => `message ${turn}`): Script {
  const script = new Script();
  for (let turn = 0; turn < turns; turn++) script.say(say(turn)).plan([], `answer ${turn}`);
  return script;
}

export async function expected(script: Script): Promise<Record<string, unknown>> {
  const db = history();
  await bring(db, script);
  return everything(db);
}
