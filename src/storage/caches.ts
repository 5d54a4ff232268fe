/**
 * Everything beside the log: caches of the fold (snapshot, ended runs), receipts, timers, payloads, and the checkpoint
 * of a message in progress. None of it decides; losing the caches would only cost a longer fold.
 */
import type { Checkpoint, Payload, Receipt, TimerKind } from "../actor/ports.ts";
import { numberOf } from "../protocol/ids.ts";
import type { Run } from "../protocol/run.ts";
import { EMPTY, FOLD_VERSION, type State } from "../run/state.ts";
import { dropPieces, gather, spill, spillNew } from "./overflow.ts";
import { numberIn, textIn, textOrNullIn, type SqlDatabase } from "./sql-database.ts";

const SNAPSHOT = "SELECT seq, fold_version, state_json FROM snapshot WHERE id = 1";
const PUT_SNAPSHOT = `INSERT INTO snapshot (id, seq, fold_version, state_json) VALUES (1, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    seq = excluded.seq, fold_version = excluded.fold_version, state_json = excluded.state_json`;

/** Where the fold begins: at the snapshot, or at nothing where there is none or an older release made it. */
export function foldStart(db: SqlDatabase): State {
  const [row] = db.exec(SNAPSHOT);
  if (!row || numberIn(row, "fold_version") !== FOLD_VERSION) return EMPTY;
  return JSON.parse(gather(db, "snapshot", textOrNullIn(row, "state_json"))) as State;
}

export function putSnapshot(db: SqlDatabase, state: State): void {
  db.exec(PUT_SNAPSHOT, state.seq, state.foldVersion, spill(db, "snapshot", JSON.stringify(state)));
}

const PAYLOAD = "SELECT body FROM payloads WHERE digest = ?";
const PUT_PAYLOAD = "INSERT INTO payloads (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING";

export function payload(db: SqlDatabase, digest: string): string | null {
  const [row] = db.exec(PAYLOAD, digest);
  return row ? gather(db, `payload:${digest}`, textOrNullIn(row, "body")) : null;
}

export function putPayload(db: SqlDatabase, { digest, body }: Payload): void {
  if (db.exec(PAYLOAD, digest).length > 0) return;
  db.exec(PUT_PAYLOAD, digest, spillNew(db, `payload:${digest}`, body));
}

const RECEIPT = "SELECT digest, status, body FROM receipts WHERE key = ?";
const PUT_RECEIPT = "INSERT INTO receipts (key, digest, status, body) VALUES (?, ?, ?, ?)";

export function receipt(db: SqlDatabase, key: string): Receipt | null {
  const [row] = db.exec(RECEIPT, key);
  if (!row) return null;
  const body = gather(db, `receipt:${key}`, textOrNullIn(row, "body"));
  return { key, digest: textIn(row, "digest"), status: numberIn(row, "status"), body };
}

/** A second receipt for a key would change what was answered (**I6**): the primary key throws. */
export function putReceipt(db: SqlDatabase, { key, digest, status, body }: Receipt): void {
  db.exec(PUT_RECEIPT, key, digest, status, spillNew(db, `receipt:${key}`, body));
}

const RUN = "SELECT n, view_json FROM runs WHERE n = ?";
const RUNS = "SELECT n, view_json FROM runs WHERE n < ? ORDER BY n DESC LIMIT ?";
const PUT_RUN = `INSERT INTO runs (n, view_json) VALUES (?, ?)
  ON CONFLICT (n) DO UPDATE SET view_json = excluded.view_json`;

const viewIn = (db: SqlDatabase, row: ReturnType<SqlDatabase["exec"]>[number]): Run =>
  JSON.parse(gather(db, `run:${numberIn(row, "n")}`, textOrNullIn(row, "view_json"))) as Run;

export function endedRun(db: SqlDatabase, runId: string): Run | null {
  const [row] = db.exec(RUN, numberOf(runId));
  const view = row ? viewIn(db, row) : null;
  return view?.id === runId ? view : null;
}

export function endedRuns(db: SqlDatabase, before: number, limit: number): Run[] {
  return db.exec(RUNS, Math.min(before, Number.MAX_SAFE_INTEGER), limit).map((row) => viewIn(db, row));
}

export function putRun(db: SqlDatabase, run: Run): void {
  const n = numberOf(run.id);
  db.exec(PUT_RUN, n, spill(db, `run:${n}`, JSON.stringify(run)));
}

const TIMERS = "SELECT kind, due_at FROM timers";
const CLEAR_TIMER = "DELETE FROM timers WHERE kind = ?";
// An unchanged timer costs no row written.
const PUT_TIMER = `INSERT INTO timers (kind, due_at) VALUES (?, ?)
  ON CONFLICT (kind) DO UPDATE SET due_at = excluded.due_at WHERE due_at <> excluded.due_at`;
const KINDS = ["deadline", "watchdog", "outbox"] as const satisfies readonly TimerKind[];

export function timers(db: SqlDatabase): Partial<Record<TimerKind, number>> {
  const rows = db.exec(TIMERS).map((row) => [textIn(row, "kind"), numberIn(row, "due_at")] as const);
  const found: Partial<Record<TimerKind, number>> = {};
  for (const kind of KINDS) {
    const due = rows.find(([stored]) => stored === kind);
    if (due) found[kind] = due[1];
  }
  return found;
}

export function setTimers(db: SqlDatabase, changes: Partial<Record<TimerKind, number | null>>): void {
  for (const kind of KINDS) {
    const due = changes[kind];
    if (due === null) db.exec(CLEAR_TIMER, kind);
    else if (due !== undefined) db.exec(PUT_TIMER, kind, due);
  }
}

const CHECKPOINT = "SELECT run_id, message_id, attempt, part, text, excerpt_of_json FROM checkpoint WHERE id = 1";
const CLEAR_CHECKPOINT = "DELETE FROM checkpoint";
// Updated in place while the message streams: deleting and inserting would write two rows each second.
const PUT_CHECKPOINT = `INSERT INTO checkpoint (id, run_id, message_id, attempt, part, text, excerpt_of_json)
  VALUES (1, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id, message_id = excluded.message_id,
    attempt = excluded.attempt, part = excluded.part, text = excluded.text, excerpt_of_json = excluded.excerpt_of_json`;

export function checkpoint(db: SqlDatabase): Checkpoint | null {
  const [row] = db.exec(CHECKPOINT);
  if (!row) return null;
  const excerptOf = textOrNullIn(row, "excerpt_of_json");
  return {
    runId: textIn(row, "run_id"),
    messageId: textIn(row, "message_id"),
    attempt: numberIn(row, "attempt"),
    part: numberIn(row, "part"),
    text: gather(db, "checkpoint", textOrNullIn(row, "text")),
    ...(excerptOf === null ? {} : { excerptOf: JSON.parse(excerptOf) as NonNullable<Checkpoint["excerptOf"]> }),
  };
}

export function putCheckpoint(db: SqlDatabase, at: Checkpoint | null): void {
  if (!at) {
    dropPieces(db, "checkpoint");
    db.exec(CLEAR_CHECKPOINT);
    return;
  }
  const excerptOf = at.excerptOf === undefined ? null : JSON.stringify(at.excerptOf);
  const text = spill(db, "checkpoint", at.text);
  db.exec(PUT_CHECKPOINT, at.runId, at.messageId, at.attempt, at.part, text, excerptOf);
}
