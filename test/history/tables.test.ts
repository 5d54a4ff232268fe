import { expect, test } from "vitest";
import { CONVERSATION_TABLES } from "../../src/history/tables.ts";
import { history } from "./support.ts";

test("what is taken away of a conversation is every table that knows it, but for what keeps it away", () => {
  const db = history();
  const known = db
    .rows(
      `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'conversation_id'`,
    )
    .map(({ name }) => String(name));
  expect([...CONVERSATION_TABLES, "tombstones"].toSorted()).toEqual(known.toSorted());
});
