/**
 * What must not have come of a bad input, measured before and after it, from outside: the logs through the API as their
 * owners, the backend's own book, D1's file, the objects' files.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pause } from "../common/figures.ts";
import type { Absence } from "./case.ts";
import type { Names } from "./fill.ts";
import type { Stage } from "./stage.ts";

export type Measured = Partial<Record<Absence, string>>;

export async function measure(stage: Stage, names: Names, wanted: readonly Absence[]): Promise<Measured> {
  const measured: Measured = {};
  for (const absence of wanted) measured[absence] = await one(stage, names, absence);
  return measured;
}

async function one(stage: Stage, names: Names, absence: Absence): Promise<string> {
  switch (absence) {
    case "event":
      return (await heads(stage, names)).map(({ head }) => head).join(" ");
    case "backend": {
      const acts = stage.backend.requests().filter(({ route, method }) => route === "/transfer" && method === "POST");
      return `${acts.length} requests, ${stage.backend.ledger().bookings.length} bookings`;
    }
    case "row":
      return counted(stage.stateDir, "d1/miniflare-D1DatabaseObject", (db) => rowsIn(db));
    case "object":
      return counted(stage.stateDir, "do/holdpoint-ConversationObject", (db) => (tablesIn(db).length > 0 ? 1 : 0));
    case "keys":
      // One fetch in the beginning and one for the first unknown key of a minute are what there may be.
      return `${stage.identities.strays()} strays, ${Math.max(2, stage.identities.fetches())} fetches`;
  }
}

async function heads(stage: Stage, names: Names) {
  const own = new Set([names["conversation"] ?? "", stage.shared["conversation"] ?? ""]);
  const asked = [
    ...[...own].map((id) => ["second", id] as const),
    ["foreigner", stage.shared["theirs"] ?? ""] as const,
  ];
  return Promise.all(
    asked.map(async ([who, id]) => {
      const { body } = await stage.ask(who, "GET", `/v1/conversations/${id}`);
      return { id, head: String(body["headCursor"]) };
    }),
  );
}

/** Until every conversation is at rest and D1 has its log: what was begun before is not to be taken for what comes. */
export async function caughtUp(stage: Stage): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const seqs = seqsIn(stage.stateDir);
    for (const [id, who] of stage.unsettled) {
      const { body } = await stage.ask(who, "GET", `/v1/conversations/${id}`);
      const run = body["activeRun"] as { readonly status: string } | null;
      const head = Number(String(body["headCursor"]).split(".")[1]);
      if ((run === null || run.status === "interrupted") && head <= (seqs.get(id) ?? -1)) stage.unsettled.delete(id);
    }
    if (stage.unsettled.size === 0) return;
    await pause(20);
  }
  throw new Error("the history does not catch up");
}

function seqsIn(stateDir: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  eachCopy(join(stateDir, "d1/miniflare-D1DatabaseObject"), (db) => {
    if (!tablesIn(db).includes("participants")) return;
    for (const row of db.prepare("SELECT conversation_id, seq FROM conversations").all()) {
      found.set(String(row["conversation_id"]), Number(row["seq"]));
    }
  });
  return found;
}

function counted(stateDir: string, folder: string, count: (db: DatabaseSync) => number): string {
  let sum = 0;
  eachCopy(join(stateDir, folder), (db) => (sum += count(db)));
  return String(sum);
}

const tablesIn = (db: DatabaseSync): string[] =>
  db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
    )
    .all()
    .map((row) => String(row["name"]));

const rowsIn = (db: DatabaseSync): number =>
  tablesIn(db)
    .filter((table) => !table.startsWith("search_") || table === "search_docs")
    .map((table) => Number(db.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.["n"]))
    .reduce((sum, n) => sum + n, 0);

/** Copies: opening the files themselves would recover their logs, which is the service's to do. */
export function eachCopy(folder: string, read: (db: DatabaseSync, name: string) => void): void {
  if (!existsSync(folder)) return;
  const copies = mkdtempSync(join(tmpdir(), "holdpoint-copies-"));
  try {
    for (const name of readdirSync(folder)) {
      if (!/^[0-9a-f]{64}\.sqlite$/.test(name)) continue;
      for (const part of [name, `${name}-wal`]) copyIfThere(join(folder, part), join(copies, part));
      const db = new DatabaseSync(join(copies, name));
      try {
        read(db, name);
      } finally {
        db.close();
      }
    }
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

/** A log may be taken in at any time. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
