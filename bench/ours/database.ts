/**
 * D1 on this machine, as a process of its own: in production a database is another service behind the network, and must
 * not share the thread that is measured. It speaks what the runtime's D1 binding asks: a list of statements is one
 * transaction. Durable as D1 is: a transaction is on the disk before it is answered.
 *
 * `node bench/ours/database.ts PORT FOLDER`; the header `x-database` names the file.
 */
import { mkdirSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

interface Query {
  readonly sql: string;
  readonly params?: readonly SQLInputValue[] | null;
}

const [port, folder = "."] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

class Database {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(name: string) {
    this.#db = new DatabaseSync(join(folder, `${name}.sqlite`));
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }

  transaction(queries: readonly Query[]): object[] {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const results = queries.map((query) => this.#run(query));
      this.#db.exec("COMMIT");
      return results;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #run({ sql, params }: Query): object {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    statement.setReturnArrays(true);
    this.#prepared.set(sql, statement);
    // The binding numbers its parameters; a list fills them in order.
    const rows = statement.all(...(params ?? []));
    const columns = statement.columns().map(({ name }) => name);
    return {
      success: true,
      results: { columns, rows },
      meta: { duration: 0, changes: 0, rows_read: 0, rows_written: 0 },
    };
  }
}

const databases = new Map<string, Database>();

async function answer(request: IncomingMessage): Promise<object> {
  const name = String(request.headers["x-database"]);
  const database = databases.get(name) ?? new Database(name);
  databases.set(name, database);
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const asked = JSON.parse(Buffer.concat(parts).toString()) as Query | Query[];
  try {
    const results = database.transaction(Array.isArray(asked) ? asked : [asked]);
    return Array.isArray(asked) ? results : (results[0] ?? {});
  } catch (error) {
    return { success: false, error: error instanceof Error ? error.message : String(error) };
  }
}

createServer((request, response) => {
  void answer(request).then((said) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(said));
  });
}).listen(Number(port), "127.0.0.1");
