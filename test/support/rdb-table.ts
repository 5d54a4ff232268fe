/**
 * One table behind a PostgREST-like address: `GET` with `column=eq.value`, `order`, `limit`, `offset`, `select`; `POST`
 * with `Prefer: return=representation`. Only that much, and an error for the rest, so that a client which relies on
 * more finds out here and not in production.
 */
import { randomUUID } from "node:crypto";
import { nowMs } from "./exchange.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** `body` undefined: none. */
export type Reply = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
};

export type Table = ReturnType<typeof createTable>;

const CONTROL = new Set(["order", "limit", "offset", "select"]);

/** `name` is for messages. */
export function createTable(name: string) {
  let rows: JsonObject[] = [];
  let lastStamp = 0;

  /** Microseconds, always later than the one before: `order=created_at.desc` has no ties. */
  const stamp = (): string => {
    lastStamp = Math.max(Math.floor(nowMs() * 1000), lastStamp + 1);
    const seconds = new Date(Math.floor(lastStamp / 1000)).toISOString().slice(0, 19);
    return `${seconds}.${String(lastStamp % 1_000_000).padStart(6, "0")}+00:00`;
  };

  return {
    select(params: URLSearchParams): Reply {
      let found = rows;
      for (const [key, value] of params) {
        if (CONTROL.has(key)) continue;
        const wanted = /^eq\.([^]*)$/.exec(value)?.[1];
        if (wanted === undefined) return refusal(400, "PGRST100", `"${key}=${value}": only eq is supported`);
        found = found.filter((row) => row[key] !== undefined && row[key] !== null && textOf(row[key]) === wanted);
      }
      for (const term of (params.get("order") ?? "").split(",").filter(Boolean).toReversed()) {
        const [, column, direction] = /^([^.]+)(?:\.(asc|desc))?$/.exec(term) ?? [];
        if (column === undefined)
          return refusal(400, "PGRST100", `"order=${term}": expected column.asc or column.desc`);
        const sign = direction === "desc" ? -1 : 1;
        found = found.toSorted((a, b) => sign * compare(a[column], b[column]));
      }
      const offset = Number(params.get("offset") ?? 0);
      const limit = Number(params.get("limit") ?? Infinity);
      if (!(offset >= 0 && limit >= 0)) return refusal(400, "PGRST100", "limit and offset must be numbers");
      const page = found.slice(offset, offset + limit);
      const range = page.length === 0 ? "*/*" : `${offset}-${offset + page.length - 1}/*`;
      const columns = params.get("select") ?? "*";
      const body = columns === "*" ? page : page.map((row) => pick(row, columns.split(",")));
      return { status: 200, body, headers: { "content-range": range } };
    },

    /** What an insert would do, without doing it: a refusal, or the rows to add. */
    prepare(body: unknown): { refused: Reply } | { rows: JsonObject[] } {
      const given: unknown[] = Array.isArray(body) ? body : [body];
      if (given.length === 0 || !given.every(isJsonObject)) {
        return { refused: refusal(400, "PGRST102", "expected an object or a non-empty array of objects") };
      }
      const ready = given.map((row): JsonObject => ({ id: randomUUID(), created_at: stamp(), ...row }));
      const ids = new Set(rows.map((row) => textOf(row.id)));
      for (const { id } of ready) {
        if (ids.has(textOf(id))) {
          return { refused: refusal(409, "23505", `duplicate key value violates unique constraint "${name}_pkey"`) };
        }
        ids.add(textOf(id));
      }
      return { rows: ready };
    },

    insert(ready: readonly JsonObject[]): void {
      rows.push(...ready);
    },

    clear(): void {
      rows = [];
    },
  };
}

function refusal(status: number, code: string, message: string): Reply {
  return { status, body: { code, message, details: null, hint: null }, headers: {} };
}

function pick(row: JsonObject, columns: readonly string[]): JsonObject {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
}

/** As PostgreSQL sorts: nulls are larger than everything, numbers by value, the rest by code units. */
function compare(a: unknown, b: unknown): number {
  const missing = Number(a === undefined || a === null) - Number(b === undefined || b === null);
  if (missing !== 0 || a === undefined || a === null) return missing;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
