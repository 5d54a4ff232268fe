import { describe } from "vitest";
import { journalContract } from "./journal-contract.ts";
import { nodeDatabase, nodeJournal } from "./node-journal.ts";

describe("the journal on node:sqlite", () => {
  journalContract(async (run) => {
    const db = nodeDatabase();
    try {
      await run({ db, journal: () => nodeJournal(db), alarm: async () => db.alarms.at(-1) ?? null });
    } finally {
      db.close();
    }
  });
});
