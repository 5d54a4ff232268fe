/** The tables of a ledger's object. Append-only: a migration that has run anywhere is never edited. */
import type { ActorMigration } from "../sql/actor-migrations.ts";

const MONEY = `
CREATE TABLE spent (
  tenant_id TEXT NOT NULL,
  period_ms INTEGER NOT NULL,
  began_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, period_ms, began_at)
) STRICT, WITHOUT ROWID;
-- booked 1: expired, and booked at the least that it has cost. micro_usd NULL: the price is not known.
CREATE TABLE reservations (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  micro_usd INTEGER,
  least_tokens INTEGER NOT NULL,
  least_micro_usd INTEGER,
  expires_at INTEGER NOT NULL,
  booked INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_open ON reservations (expires_at) WHERE booked = 0;
CREATE TABLE warned (
  tenant_id TEXT NOT NULL,
  name TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, name, began_at, percent)
) STRICT, WITHOUT ROWID;
`;

const RUNS = `
-- Queued and running runs of each conversation, as its actor said last.
CREATE TABLE occupancy (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  runs INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id)
) STRICT, WITHOUT ROWID;
-- Starts that were let in and are not registered yet.
CREATE TABLE holds (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
-- Conversations' objects whose run waits for this budget.
CREATE TABLE waiting (
  tenant_id TEXT NOT NULL,
  object TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, object)
) STRICT, WITHOUT ROWID;
`;

const CIRCUITS = `
-- failures in a row; open_until 0: closed.
CREATE TABLE circuits (
  tenant_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  failures INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  open_until INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, tool)
) STRICT, WITHOUT ROWID;
`;

export const LEDGER_MIGRATIONS: readonly ActorMigration[] = [
  { id: 1, sql: MONEY },
  { id: 2, sql: RUNS },
  { id: 3, sql: CIRCUITS },
];
