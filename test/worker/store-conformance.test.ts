import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { durableDatabase } from "../../src/storage/durable-journal.ts";
import { storeConformance, type Storage, type Subject } from "../sim/store-conformance.ts";

type Ctx = DurableObjectState;

const storageOf = ({ storage }: Ctx): Storage => {
  const db = durableDatabase(storage);
  return {
    exec: (sql, ...params) => db.exec(sql, ...params).map((row) => ({ ...row })),
    transactionSync: (run) => db.transactionSync(run),
    setAlarm: (at) => void storage.setAlarm(at),
  };
};

function subject(): Subject {
  const id = env.CONVERSATIONS.newUniqueId();
  // A stub does not outlive its object's death.
  const stub = () => env.CONVERSATIONS.get(id);
  const dying = async (run: (ctx: Ctx) => void | Promise<void>) => {
    const died = runInDurableObject(stub(), async (_object, ctx) => {
      await run(ctx);
      ctx.abort("killed by the test");
    });
    await expect(died).rejects.toThrow();
  };
  return {
    turn: (run) => runInDurableObject(stub(), (_object, ctx) => run(storageOf(ctx))),
    dyingTurn: (run) => dying((ctx) => run(storageOf(ctx))),
    syncedThenDying: (run) =>
      dying(async (ctx) => {
        run(storageOf(ctx));
        await ctx.storage.sync();
      }),
    alarm: () => runInDurableObject(stub(), (_object, { storage }) => storage.getAlarm()),
  };
}

describe("a Durable Object's storage, as the simulation has it", () => {
  storeConformance((run) => run(subject()));

  test("in its own handler no alarm stands, and it comes again when the handler throws", async () => {
    const id = env.CONVERSATIONS.newUniqueId();
    const stood: (number | null)[] = [];
    await runInDurableObject(env.CONVERSATIONS.get(id), async (object, { storage }) => {
      const done = new Promise<void>((resolve) => {
        Object.assign(object, {
          alarm: async () => {
            stood.push(await storage.getAlarm());
            if (stood.length === 1) throw new Error("the first time");
            resolve();
          },
        });
      });
      await storage.setAlarm(Date.now() + 10);
      await done;
    });
    expect(stood).toEqual([null, null]);
  });
});
