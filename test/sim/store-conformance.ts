/**
 * What the simulation's storage says of the platform's, as small tests that both must pass: `SimStore` in plain Node and
 * a Durable Object's storage in workerd.
 */
import { expect, test } from "vitest";
import type { SqlValue } from "../../src/sql/rows.ts";

export interface Storage {
  exec(sql: string, ...params: SqlValue[]): Record<string, unknown>[];
  transactionSync<T>(run: () => T): T;
  setAlarm(at: number): void;
}

/** One object with a past: what one life leaves, the next finds. */
export interface Subject {
  /** One event, which does all of this and is then over; or throws in the end. */
  turn<T>(run: (storage: Storage) => T): Promise<T>;
  /** One event in whose middle the object dies. */
  dyingTurn(run: (storage: Storage) => void): Promise<void>;
  /** One event that waits for what it wrote to be durable, and then dies. */
  syncedThenDying(run: (storage: Storage) => void): Promise<void>;
  alarm(): Promise<number | null>;
}

const TABLE = "CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT";
const INSERT = "INSERT INTO notes (n, text) VALUES (?, ?)";

export function storeConformance(withSubject: (run: (subject: Subject) => Promise<void>) => Promise<void>): void {
  const notes = (subject: Subject) =>
    subject.turn((storage) =>
      storage.exec("SELECT n, text FROM notes ORDER BY n").map(({ n, text }) => `${String(n)} ${String(text)}`),
    );
  const begun = (run: (subject: Subject) => Promise<void>) =>
    withSubject(async (subject) => {
      await subject.turn((storage) => void storage.exec(TABLE));
      await run(subject);
    });

  test("what an event wrote is there for the next", () =>
    begun(async (subject) => {
      await subject.turn((storage) => void storage.exec(INSERT, 1, "one"));
      expect(await notes(subject)).toEqual(["1 one"]);
    }));

  test("an exception after a write takes nothing back", () =>
    begun(async (subject) => {
      const failing = subject.turn((storage) => {
        storage.exec(INSERT, 1, "one");
        throw new Error("after the write");
      });
      await expect(failing).rejects.toThrow("after the write");
      expect(await notes(subject)).toEqual(["1 one"]);
    }));

  test("a transaction that throws leaves nothing of itself, and everything before it", () =>
    begun(async (subject) => {
      await subject.turn((storage) => {
        storage.exec(INSERT, 1, "before");
        expect(() =>
          storage.transactionSync(() => {
            storage.exec(INSERT, 2, "inside");
            throw new Error("no");
          }),
        ).toThrow("no");
        storage.exec(INSERT, 3, "after");
      });
      expect(await notes(subject)).toEqual(["1 before", "3 after"]);
    }));

  test("a transaction gives back what it worked out", () =>
    begun(async (subject) => {
      const n = await subject.turn((storage) =>
        storage.transactionSync(() => {
          storage.exec(INSERT, 1, "one");
          return storage.exec("SELECT count(*) AS n FROM notes")[0]?.["n"];
        }),
      );
      expect(n).toBe(1);
    }));

  test("a table made in a transaction that throws was never made", () =>
    begun(async (subject) => {
      await subject.turn((storage) => {
        expect(() =>
          storage.transactionSync(() => {
            storage.exec("CREATE TABLE more (n INTEGER PRIMARY KEY) STRICT");
            throw new Error("no");
          }),
        ).toThrow("no");
      });
      const found = await subject.turn((storage) => storage.exec("SELECT name FROM sqlite_master WHERE name = 'more'"));
      expect(found).toEqual([]);
    }));

  test("a death in the event loses what the event wrote, and nothing older", () =>
    begun(async (subject) => {
      await subject.turn((storage) => void storage.exec(INSERT, 1, "older"));
      await subject.dyingTurn((storage) => {
        storage.exec(INSERT, 2, "lost");
        storage.transactionSync(() => void storage.exec(INSERT, 3, "lost too"));
      });
      expect(await notes(subject)).toEqual(["1 older"]);
    }));

  test("what is durable survives the death that follows", () =>
    begun(async (subject) => {
      await subject.syncedThenDying((storage) => void storage.exec(INSERT, 1, "kept"));
      expect(await notes(subject)).toEqual(["1 kept"]);
    }));

  test("the alarm stands with the event that set it, and falls with it", () =>
    begun(async (subject) => {
      const at = Date.now() + 3_600_000;
      await subject.dyingTurn((storage) => storage.setAlarm(at));
      expect(await subject.alarm()).toBeNull();
      await subject.turn((storage) => storage.setAlarm(at));
      expect(await subject.alarm()).toBe(at);
      await subject.turn((storage) => storage.setAlarm(at + 1_000));
      expect(await subject.alarm()).toBe(at + 1_000);
    }));

  test("an alarm outlives the life that set it", () =>
    begun(async (subject) => {
      const at = Date.now() + 3_600_000;
      await subject.turn((storage) => storage.setAlarm(at));
      await subject.dyingTurn((storage) => void storage.exec(INSERT, 1, "lost"));
      expect(await subject.alarm()).toBe(at);
    }));

  test("a read sees what the same event wrote before it", () =>
    begun(async (subject) => {
      const seen = await subject.turn((storage) => {
        storage.exec(INSERT, 1, "one");
        return storage.exec("SELECT text FROM notes WHERE n = ?", 1);
      });
      expect(seen.map(({ text }) => text)).toEqual(["one"]);
    }));

  test("100 parameters are taken, 101 are not", () =>
    begun(async (subject) => {
      const sum = (n: number) => `SELECT ${Array.from({ length: n }, () => "?").join(" + ")} AS sum`;
      const ones = (n: number) => Array.from({ length: n }, () => 1);
      await subject.turn((storage) => {
        expect(storage.exec(sum(99), ...ones(99))[0]?.["sum"]).toBe(99);
        expect(() => storage.exec(sum(101), ...ones(101))).toThrow();
      });
    }));

  test("types are strict, keys are unique, and the event goes on after a refusal", () =>
    begun(async (subject) => {
      await subject.turn((storage) => {
        storage.exec(INSERT, 1, "one");
        expect(() => storage.exec(INSERT, 1, "again")).toThrow();
        expect(() => storage.exec(INSERT, 2, null)).toThrow();
        expect(() => storage.exec(INSERT, "x", "text for a number")).toThrow();
        storage.exec(INSERT, 3, "three");
      });
      expect(await notes(subject)).toEqual(["1 one", "3 three"]);
    }));

  test("text comes back as it was, whatever is in it", () =>
    begun(async (subject) => {
      const text = "ein „Zitat“, 漢字, 👩‍👩‍👧, \u0000 and\nlines";
      await subject.turn((storage) => void storage.exec(INSERT, 1, text));
      const rows = await subject.turn((storage) => storage.exec("SELECT text FROM notes"));
      expect(rows.map((row) => row["text"])).toEqual([text]);
    }));
}
