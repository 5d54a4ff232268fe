/**
 * The service with a counter at its storage: what a conversation writes is what it is billed for, and each commit is a
 * gate that answers, frames and requests wait at. GET /bench/rows tells what was spent since it was asked last.
 */
import service, { ConversationObject as Conversation } from "../../src/index.ts";
import { platformOf, type Platform } from "../../src/platform.ts";

export * from "../../src/index.ts";

export interface Spent {
  rowsWritten: number;
  rowsRead: number;
  /** Transactions: each is one gate. */
  commits: number;
  alarms: number;
  /** By table. */
  written: Record<string, number>;
}

const nothing = (): Spent => ({ rowsWritten: 0, rowsRead: 0, commits: 0, alarms: 0, written: {} });
/** Objects and Worker share the isolate. */
let spent = nothing();

function counted({ storage, ...platform }: Platform): Platform {
  const exec: typeof storage.sql.exec = (query, ...bindings) => {
    const cursor = storage.sql.exec(query, ...bindings);
    const rows = cursor.toArray();
    const table = /(?:INTO|UPDATE|FROM)\s+(\w+)/.exec(query)?.[1] ?? "";
    spent.rowsWritten += cursor.rowsWritten;
    spent.rowsRead += cursor.rowsRead;
    if (cursor.rowsWritten > 0) spent.written[table] = (spent.written[table] ?? 0) + cursor.rowsWritten;
    return Object.assign(Object.create(cursor), { toArray: () => rows });
  };
  return {
    ...platform,
    storage: {
      sql: new Proxy(storage.sql, {
        get: (target, name) => (name === "exec" ? exec : Reflect.get(target, name, target)),
      }),
      transactionSync: (run) => {
        spent.commits += 1;
        return storage.transactionSync(run);
      },
      setAlarm: (at, options) => {
        spent.alarms += 1;
        return storage.setAlarm(at, options);
      },
      deleteAll: (options) => storage.deleteAll(options),
    },
  };
}

export class ConversationObject extends Conversation {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, counted(platformOf(ctx, env)));
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    if (new URL(request.url).pathname !== "/bench/rows") return service.fetch(request, env);
    const answer = Response.json(spent);
    spent = nothing();
    return answer;
  },
} satisfies ExportedHandler<Env>;
