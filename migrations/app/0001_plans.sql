-- The planner's own data. The key begins with the tenant, and then the user: no statement names a plan without both.
CREATE TABLE plans (
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  notes TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- Which act made this version: lets a repeated act find itself.
  last_change TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, user_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX plans_newest ON plans (tenant_id, user_id, created_at DESC, id DESC);
