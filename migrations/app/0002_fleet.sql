-- Opspilot's fleet: what is known for sure of each tenant's services. How a service does now is worked out from it and the
-- time. The key begins with the tenant: no statement names a service without it.
CREATE TABLE services (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  -- Since when there are logs of it.
  created_at INTEGER NOT NULL,
  -- Counts restarts: what was shown of a boot is no longer so after the next.
  boot INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- One row per act, under the name that the outside knows it by: a repeated act finds itself.
CREATE TABLE service_restarts (
  tenant_id TEXT NOT NULL,
  act TEXT NOT NULL,
  service_id TEXT NOT NULL,
  boot INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  by_user_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, act)
) STRICT, WITHOUT ROWID;

CREATE INDEX service_restarts_newest ON service_restarts (tenant_id, started_at DESC);

CREATE TABLE service_settings (
  tenant_id TEXT NOT NULL,
  service_id TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  version INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, service_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting_changes (
  tenant_id TEXT NOT NULL,
  act TEXT NOT NULL,
  service_id TEXT NOT NULL,
  name TEXT NOT NULL,
  before_value INTEGER NOT NULL,
  after_value INTEGER NOT NULL,
  -- The version of the setting that this change made.
  version INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  by_user_id TEXT NOT NULL,
  PRIMARY KEY (tenant_id, act)
) STRICT, WITHOUT ROWID;

CREATE INDEX setting_changes_newest ON setting_changes (tenant_id, changed_at DESC);

CREATE TABLE incidents (
  tenant_id TEXT NOT NULL,
  act TEXT NOT NULL,
  -- What people call it: counts up within the tenant.
  number INTEGER NOT NULL,
  service_id TEXT NOT NULL,
  severity TEXT NOT NULL,
  title TEXT NOT NULL,
  details TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  opened_by TEXT NOT NULL,
  PRIMARY KEY (tenant_id, act),
  UNIQUE (tenant_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX incidents_newest ON incidents (tenant_id, service_id, opened_at DESC);
