import { describe } from "vitest";
import { SimStore } from "../../sim/store.ts";
import { storeConformance, type Storage, type Subject } from "./store-conformance.ts";

/** Turns as the simulation's platform plays them: committed when they are over, rolled back by a death. */
function subject(): Subject {
  const store = new SimStore(() => 0);
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

describe("the simulation's storage", () => {
  storeConformance((run) => run(subject()));
});
