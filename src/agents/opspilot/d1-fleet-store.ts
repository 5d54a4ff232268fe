/**
 * The fleet in the D1 binding `APP`. Each act is one batch, which is one transaction: its own row first, which holds the
 * condition, then what it changes, where and only where that row came of it. A repeat finds the row and changes nothing.
 */
import { decodeRow, decodeRows } from "../../sql/rows.ts";
import { AmbiguousOutcome } from "../../tools/outcome.ts";
import type { FleetStore, IncidentAct, RestartAct, SettingAct, Who } from "./fleet-store.ts";
import { FLEET } from "./fleet.ts";
import {
  ActBoot,
  ChangedRow,
  IncidentRow,
  RestartRow,
  ServiceRow,
  SettingChangeRow,
  SettingRow,
} from "./fleet-rows.ts";
import type { Facts } from "./lives.ts";
import type { Fleet } from "./observe.ts";

/** More of the past than these is not looked at; people make each of them. */
const REMEMBERED = 200;

type Value = string | number;

const LOAD = [
  "SELECT id, created_at, boot, started_at FROM services WHERE tenant_id = ?1",
  "SELECT service_id, name, value, version, changed_at FROM service_settings WHERE tenant_id = ?1",
  `SELECT service_id, boot, started_at FROM service_restarts WHERE tenant_id = ?1
    ORDER BY started_at DESC LIMIT ${REMEMBERED}`,
  `SELECT service_id, name, before_value, after_value, changed_at FROM setting_changes WHERE tenant_id = ?1
    ORDER BY changed_at DESC, version DESC LIMIT ${REMEMBERED}`,
];

const INCIDENT = "number, service_id, severity, title, opened_at";

export class D1FleetStore implements FleetStore {
  readonly #db: D1Database;
  readonly #now: () => number;

  constructor(db: D1Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async load(tenantId: string): Promise<Fleet> {
    const fleet = await this.#read(tenantId);
    if (isWhole(fleet)) return fleet;
    await this.#create(tenantId);
    return this.#read(tenantId);
  }

  async #read(tenantId: string): Promise<Fleet> {
    const [services = [], settings = [], restarts = [], changes = []] = await this.#batch(
      LOAD.map((sql) => [sql, [tenantId]]),
    );
    const settingsOf = byService(decodeRows(SettingRow, settings));
    const restartsOf = byService(decodeRows(RestartRow, restarts).toReversed());
    const changesOf = byService(decodeRows(SettingChangeRow, changes).toReversed());
    const facts = decodeRows(ServiceRow, services).map(({ id, ...row }): [string, Facts] => [
      id,
      {
        ...row,
        settings: settingsOf.get(id) ?? [],
        restarts: restartsOf.get(id) ?? [],
        changes: changesOf.get(id) ?? [],
      },
    ]);
    return { tenantId, services: new Map(facts) };
  }

  /** Two isolates may do this at once: the first one's rows stay. */
  async #create(tenantId: string): Promise<void> {
    const now = this.#now();
    const service = `INSERT INTO services (tenant_id, id, created_at, boot, started_at) VALUES (?1, ?2, ?3, 1, ?4)
      ON CONFLICT DO NOTHING`;
    const setting = `INSERT INTO service_settings (tenant_id, service_id, name, value, version, changed_at)
      VALUES (?1, ?2, ?3, ?4, 1, ?5) ON CONFLICT DO NOTHING`;
    await this.#batch(
      FLEET.flatMap(({ id, ageMs, settings }): [string, Value[]][] => [
        [service, [tenantId, id, now, now - ageMs]],
        ...settings.map(({ name, initial }): [string, Value[]] => [
          setting,
          [tenantId, id, name, initial, now - 2 * ageMs],
        ]),
      ]),
    );
  }

  async restart({ tenantId, userId }: Who, { serviceId, boot, act }: RestartAct) {
    const own = `INSERT INTO service_restarts (tenant_id, act, service_id, boot, started_at, by_user_id)
      SELECT tenant_id, ?4, id, boot + 1, ?5, ?6 FROM services WHERE tenant_id = ?1 AND id = ?2 AND boot = ?3
      ON CONFLICT DO NOTHING`;
    const change = `UPDATE services SET boot = boot + 1, started_at = ?5 WHERE tenant_id = ?1 AND id = ?2 AND boot = ?3
      AND EXISTS (SELECT 1 FROM service_restarts WHERE tenant_id = ?1 AND act = ?4 AND service_id = ?2 AND boot = ?3 + 1)`;
    const read = "SELECT boot FROM service_restarts WHERE tenant_id = ?1 AND act = ?2 AND service_id = ?3";
    const values = [tenantId, serviceId, boot, act, this.#now()];
    const [, , rows = []] = await this.#batch([
      [own, [...values, userId]],
      [change, values],
      [read, [tenantId, act, serviceId]],
    ]);
    return decodeRow(ActBoot, rows);
  }

  async set({ tenantId, userId }: Who, { serviceId, name, value, version, act }: SettingAct) {
    const own = `INSERT INTO setting_changes
      (tenant_id, act, service_id, name, before_value, after_value, version, changed_at, by_user_id)
      SELECT tenant_id, ?5, service_id, name, value, ?6, version + 1, ?7, ?8 FROM service_settings
      WHERE tenant_id = ?1 AND service_id = ?2 AND name = ?3 AND version = ?4 ON CONFLICT DO NOTHING`;
    const change = `UPDATE service_settings SET value = ?6, version = version + 1, changed_at = ?7
      WHERE tenant_id = ?1 AND service_id = ?2 AND name = ?3 AND version = ?4 AND EXISTS
        (SELECT 1 FROM setting_changes WHERE tenant_id = ?1 AND act = ?5 AND service_id = ?2 AND name = ?3 AND version = ?4 + 1)`;
    const read = `SELECT before_value, after_value, version FROM setting_changes
      WHERE tenant_id = ?1 AND act = ?2 AND service_id = ?3 AND name = ?4`;
    const values = [tenantId, serviceId, name, version, act, value, this.#now()];
    const [, , rows = []] = await this.#batch([
      [own, [...values, userId]],
      [change, values],
      [read, [tenantId, act, serviceId, name]],
    ]);
    return decodeRow(ChangedRow, rows);
  }

  async open({ tenantId, userId }: Who, { serviceId, severity, title, details, act }: IncidentAct) {
    const own = `INSERT INTO incidents
      (tenant_id, act, number, service_id, severity, title, details, opened_at, opened_by)
      SELECT ?1, ?2, coalesce((SELECT max(number) FROM incidents WHERE tenant_id = ?1), 1000) + 1, ?3, ?4, ?5, ?6, ?7, ?8
      WHERE true ON CONFLICT (tenant_id, act) DO NOTHING`;
    const values = [tenantId, act, serviceId, severity, title, details, this.#now(), userId];
    const [, rows = []] = await this.#batch([[own, values], ofAct(tenantId, act)]);
    const incident = decodeRow(IncidentRow, rows);
    if (incident === null) throw unavailable("The incident was neither opened nor found.");
    return incident;
  }

  async incident(tenantId: string, act: string) {
    const [rows = []] = await this.#batch([ofAct(tenantId, act)]);
    return decodeRow(IncidentRow, rows);
  }

  async incidentsOf(tenantId: string, serviceId: string, limit: number) {
    const sql = `SELECT ${INCIDENT} FROM incidents WHERE tenant_id = ?1 AND service_id = ?2
      ORDER BY opened_at DESC, number DESC LIMIT ?3`;
    const [rows = []] = await this.#batch([[sql, [tenantId, serviceId, limit]]]);
    return decodeRows(IncidentRow, rows);
  }

  async #batch(statements: readonly (readonly [string, readonly Value[]])[]): Promise<unknown[][]> {
    try {
      const answers = await this.#db.batch(statements.map(([sql, values]) => this.#db.prepare(sql).bind(...values)));
      return answers.map(({ results }) => results);
    } catch (error) {
      throw unavailable("The store of the fleet gave no answer.", error);
    }
  }
}

const isWhole = ({ services }: Fleet): boolean =>
  FLEET.every(({ id, settings }) => {
    const stored = services.get(id)?.settings ?? [];
    return services.has(id) && settings.every(({ name }) => stored.some((setting) => setting.name === name));
  });

const ofAct = (tenantId: string, act: string): [string, Value[]] => [
  `SELECT ${INCIDENT} FROM incidents WHERE tenant_id = ?1 AND act = ?2`,
  [tenantId, act],
];

function byService<T extends { readonly serviceId: string }>(rows: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) found.set(row.serviceId, [...(found.get(row.serviceId) ?? []), row]);
  return found;
}

function unavailable(message: string, cause?: unknown): AmbiguousOutcome {
  return new AmbiguousOutcome({ code: "FLEET_UNAVAILABLE", message, retryable: true }, cause);
}
