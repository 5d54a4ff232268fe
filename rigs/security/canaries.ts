/**
 * Secrets and tenants' texts, looked for in everything that the cases have left: the log, the history, the objects, the
 * model's and the backend's books. A secret has no place in any of them; a tenant's text none in the log, and in another
 * tenant's rows.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eachCopy } from "./absence.ts";
import type { Stage } from "./stage.ts";

/** Sentences about what was found; none: all is where it belongs. */
export function straying(stage: Stage, log: string): string[] {
  const { secrets, tenants } = stage.canaries;
  const hidden = {
    ...secrets,
    ...Object.fromEntries([...stage.tokens].map(([who, token]) => [`token of ${who}`, token])),
  };
  const model = stage.model.requests().map(({ body }) => JSON.stringify(body));
  const backend = stage.backend.requests().map((request) => JSON.stringify(request));
  const files = databaseBytes(stage.stateDir);
  const found: string[] = [];
  for (const [name, secret] of Object.entries(hidden)) {
    if (log.includes(secret)) found.push(`${name} in the log`);
    if (model.some((text) => text.includes(secret))) found.push(`${name} in a prompt`);
    if (backend.some((text) => text.includes(secret))) found.push(`${name} at the backend`);
    if (files.some((bytes) => bytes.includes(secret))) found.push(`${name} in a database`);
  }
  for (const [tenant, mark] of Object.entries(tenants)) {
    if (log.includes(mark)) found.push(`a text of ${tenant} in the log`);
    found.push(...rowsWith(stage.stateDir, tenant, mark));
  }
  // What is looked for is there to be found: else nothing of the above would say anything.
  const placed = Object.entries(tenants).filter(([, mark]) => !files.some((bytes) => bytes.includes(mark)));
  found.push(...placed.map(([tenant]) => `no text of ${tenant} anywhere: the search is blind`));
  return found;
}

/** Rows of other tenants with this tenant's mark in them. */
function rowsWith(stateDir: string, tenant: string, mark: string): string[] {
  const found: string[] = [];
  eachCopy(join(stateDir, "d1/miniflare-D1DatabaseObject"), (db) => {
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()) {
      const columns = db.prepare(`SELECT name FROM pragma_table_info(?)`).all(String(name));
      if (!columns.some((column) => column["name"] === "tenant_id")) continue;
      const rows = db.prepare(`SELECT * FROM "${String(name)}" WHERE tenant_id <> ?`).all(tenant);
      if (rows.some((row) => JSON.stringify(row).includes(mark))) found.push(`a text of ${tenant} in ${String(name)}`);
    }
  });
  return found;
}

/** Every database with its log: what was deleted and not yet overwritten counts as well. */
function databaseBytes(stateDir: string): Buffer[] {
  const names = readdirSync(stateDir, { recursive: true, encoding: "utf8" });
  return (
    names
      .filter((name) => /\.sqlite(-wal)?$/.test(name))
      .map((name) => join(stateDir, name))
      // A log may have been taken in since it was listed.
      .flatMap((path) => (existsSync(path) ? [readFileSync(path)] : []))
  );
}
