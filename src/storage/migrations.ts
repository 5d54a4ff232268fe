/**
 * The actor's tables, as an append-only list. A migration that has run anywhere is never edited: its text stands in
 * `_migrations` and is compared on every start.
 */
import type { ActorMigration } from "../sql/actor-migrations.ts";

const LOG = `
-- codec says how data is written; only json so far. cause stands on the row of the first event of its
-- input. run_n instead of the run's id: the id begins with the conversation's, which every row shares.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  v INTEGER NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  run_n INTEGER,
  by_kind TEXT NOT NULL,
  by_id TEXT,
  codec TEXT NOT NULL,
  data TEXT NOT NULL,
  cause TEXT
) STRICT;
-- Partial: an index on every event would cost a row written for each of them.
CREATE INDEX events_messages ON events (seq) WHERE type IN ('message.created', 'message.completed');
CREATE TABLE payloads (digest TEXT PRIMARY KEY, body TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE receipts (
  key TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE timers (kind TEXT PRIMARY KEY, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL,
  fold_version INTEGER NOT NULL,
  state_json TEXT
) STRICT;
CREATE TABLE runs (n INTEGER PRIMARY KEY, view_json TEXT) STRICT;
CREATE TABLE checkpoint (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  run_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  part INTEGER NOT NULL,
  text TEXT,
  excerpt_of_json TEXT
) STRICT;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parked (seq INTEGER PRIMARY KEY, reason TEXT NOT NULL, attempts INTEGER NOT NULL) STRICT;
-- Pieces of a text that is too long for its row; the column is then NULL.
CREATE TABLE overflow (
  ref TEXT NOT NULL,
  piece INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (ref, piece)
) STRICT, WITHOUT ROWID;
`;

/** Nonces of tickets that were used, until the ticket itself has expired. */
const TICKETS = `CREATE TABLE tickets (nonce TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`;

export const MIGRATIONS: readonly ActorMigration[] = [
  { id: 1, sql: LOG },
  { id: 2, sql: TICKETS },
];

/** Of an erased conversation, in a database that holds nothing else: no migration ever runs on it. */
export const TOMBSTONE_TABLE = `CREATE TABLE IF NOT EXISTS tombstone (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  deleted_at INTEGER NOT NULL,
  generation TEXT NOT NULL,
  owner TEXT NOT NULL
) STRICT`;
