-- The projection of every conversation's log, for lists, search, the inbox and for reading while an actor cannot answer.
-- It may lag and decides nothing. Every key begins with tenant_id. Every row says of which generation it is and which
-- event (seq) wrote it last: late rows of an older generation are keyed apart and joined by nothing.
-- Times are epoch milliseconds. Ids are split: run_n and call_n are the numbers at the end of the wire's ids.

-- seq: every event up to here is in these tables, but for the holes.
CREATE TABLE conversations (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  seq INTEGER NOT NULL,
  agent TEXT NOT NULL,
  title TEXT,
  archived INTEGER NOT NULL,
  metadata_json TEXT NOT NULL,
  handover_state TEXT NOT NULL,
  operator_id TEXT,
  active_run_n INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id)
) STRICT;

-- Erased: nothing is ever written for this conversation again.
CREATE TABLE tombstones (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id)
) STRICT, WITHOUT ROWID;

-- Events that could not be brought over; the actor keeps them parked and tries some of them again.
CREATE TABLE holes (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id, generation, seq)
) STRICT, WITHOUT ROWID;

-- Agent and creation never change, so they stand here too: a user's list is one walk over one index.
-- waiting: 1 while the conversation has an open confirmation, so that the inbox never walks the list.
CREATE TABLE participants (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  user_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL,
  agent TEXT NOT NULL,
  conversation_created_at INTEGER NOT NULL,
  waiting INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id, generation, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX participants_newest
  ON participants (tenant_id, user_id, conversation_created_at, conversation_id);
CREATE INDEX participants_by_agent
  ON participants (tenant_id, user_id, agent, conversation_created_at, conversation_id);
CREATE INDEX participants_waiting ON participants (tenant_id, user_id) WHERE waiting = 1;

-- One row per message event, in the order of the log; parts with their whole text.
CREATE TABLE messages (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  seq INTEGER NOT NULL,
  message_n INTEGER NOT NULL,
  run_n INTEGER,
  role TEXT NOT NULL,
  by_kind TEXT NOT NULL,
  by_id TEXT,
  parts_json TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id, generation, seq)
) STRICT;

-- queue_key orders the queue (the head has the smallest); NULL once started.
CREATE TABLE runs (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  run_n INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  agent_digest TEXT NOT NULL,
  status TEXT NOT NULL,
  queue_key INTEGER,
  input_json TEXT NOT NULL,
  metadata_json TEXT NOT NULL,
  started_by TEXT NOT NULL,
  retry_of_n INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  deadline_at INTEGER,
  cancel_requested_at INTEGER,
  awaits_continuation INTEGER NOT NULL DEFAULT 0,
  awaits_budget INTEGER NOT NULL DEFAULT 0,
  steps INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_input_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cost_micro_usd INTEGER,
  usage_estimated INTEGER NOT NULL DEFAULT 0,
  model TEXT,
  stop_json TEXT,
  PRIMARY KEY (tenant_id, conversation_id, generation, run_n)
) STRICT;
CREATE INDEX runs_queued ON runs (tenant_id, conversation_id, generation, queue_key) WHERE queue_key IS NOT NULL;

-- effect, args_digest and title are NULL for a call that was refused before anybody was asked.
CREATE TABLE tool_calls (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  run_n INTEGER NOT NULL,
  call_n INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  step INTEGER NOT NULL,
  tool TEXT NOT NULL,
  title TEXT,
  effect TEXT,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  args_json TEXT NOT NULL,
  args_digest TEXT,
  preview_json TEXT,
  gate_json TEXT,
  scope TEXT,
  reversible INTEGER NOT NULL,
  undo TEXT,
  decisions_json TEXT NOT NULL DEFAULT '[]',
  resolution_json TEXT,
  result_json TEXT,
  late_result_json TEXT,
  expires_at INTEGER,
  proposed_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, conversation_id, generation, run_n, call_n)
) STRICT;

-- What waits for a person: a decision, or (also of an ended run) word of what became of an unknown call.
CREATE TABLE confirmations (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  run_n INTEGER NOT NULL,
  call_n INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  open INTEGER NOT NULL,
  remaining INTEGER,
  opened_at INTEGER NOT NULL,
  expires_at INTEGER,
  closed_at INTEGER,
  PRIMARY KEY (tenant_id, conversation_id, generation, run_n, call_n)
) STRICT, WITHOUT ROWID;
CREATE INDEX confirmations_open
  ON confirmations (tenant_id, conversation_id, generation, kind, run_n) WHERE open = 1;

-- Which document of the index is which text: n 0 is the title, any other n the seq of a message.
CREATE TABLE search_docs (
  tenant_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  generation TEXT NOT NULL,
  n INTEGER NOT NULL,
  doc INTEGER NOT NULL UNIQUE,
  PRIMARY KEY (tenant_id, conversation_id, generation, n)
) STRICT, WITHOUT ROWID;

-- readers: one token per participant, made of tenant and user, so that a match never leaves what the reader may see.
-- words: words, and pairs of neighbouring characters where a script sets no spaces. singles: each such character once.
-- Marks belong to words: without them the vowels of Hindi or Thai would cut their words in pieces.
CREATE VIRTUAL TABLE search USING fts5 (
  readers,
  words,
  singles,
  tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);
