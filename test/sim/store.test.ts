import { describe, expect, test } from "vitest";
import { SimStore, StoreDatabase } from "../../sim/store.ts";
import { storeConformance, type Storage, type Subject } from "./store-conformance.ts";

/** Turns as the simulation's platform plays them: committed when they are over, rolled back by a death. */
function subject(database = new StoreDatabase()): Subject {
  const store = new SimStore(() => 0, database);
  let alarm: number | null = null;
  const storage: Storage = {
    exec: (sql, ...params) => store.exec(sql, ...params),
    transactionSync: (run) => store.transactionSync(run),
    setAlarm: (at) => store.setAlarm(at),
  };
  const commit = () => {
    const set = store.commit();
    if (set !== undefined) alarm = set;
  };
  return {
    async turn(run) {
      try {
        return run(storage);
      } finally {
        commit();
      }
    },
    async dyingTurn(run) {
      run(storage);
      store.rollback();
    },
    async syncedThenDying(run) {
      run(storage);
      commit();
      store.rollback();
    },
    alarm: async () => alarm,
  };
}

/** What the suite's tables are made with, run once, so that they are there and hidden. */
async function used(): Promise<StoreDatabase> {
  const store = new SimStore(() => 0);
  store.exec("CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  store.exec("INSERT INTO notes (n, text) VALUES (?, ?)", 1, "of another schedule");
  store.commit();
  const database = store.close();
  if (!database) throw new Error("it cannot be used again");
  return database;
}

describe("the simulation's storage", () => {
  storeConformance((run) => run(subject()));
});

describe("the simulation's storage, in a database that has served before", () => {
  storeConformance(async (run) => run(subject(await used())));

  test("has no tables at first, and those that a transaction made go with it", async () => {
    const store = new SimStore(() => 0, await used());
    const tables = () => store.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", "notes");
    expect(tables()).toEqual([]);
    const make = () => store.exec("CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
    make();
    expect(tables()).toHaveLength(1);
    store.rollback();
    expect(tables()).toEqual([]);
    make();
    store.commit();
    expect(store.exec("SELECT * FROM notes")).toEqual([]);
    store.rollback();
    expect(tables()).toHaveLength(1);
  });

  test("one whose tables were all dropped serves nobody any more", async () => {
    const store = new SimStore(() => 0, await used());
    store.deleteAll();
    store.commit();
    expect(store.close()).toBeNull();
  });
});
