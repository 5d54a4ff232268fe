-- 1: the tenant is paused, and this conversation has been told.
ALTER TABLE conversations ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;

-- Figures for those who operate the service: what runs took, and where a figure has crossed its threshold.

-- Of the model's requests of a run: their time in all, until the first byte of the first, and the longest body sent.
ALTER TABLE runs ADD COLUMN model_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN first_byte_ms INTEGER;
ALTER TABLE runs ADD COLUMN request_bytes INTEGER NOT NULL DEFAULT 0;

CREATE INDEX runs_ended ON runs (tenant_id, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX tool_calls_failed ON tool_calls (tenant_id, proposed_at) WHERE state IN ('failed', 'refused', 'unknown');

-- The worst of an hour, of what no other row tells: how far this history was behind.
CREATE TABLE figures (
  tenant_id TEXT NOT NULL,
  name TEXT NOT NULL,
  hour_at INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, name, hour_at)
) STRICT, WITHOUT ROWID;

-- A figure was above its threshold in this hour; the values are those of the moment in which it was seen.
CREATE TABLE crossings (
  tenant_id TEXT NOT NULL,
  hour_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  threshold INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, hour_at, name)
) STRICT, WITHOUT ROWID;
