import { expect, test } from "vitest";
import { historyReader } from "../../src/history/history-reader.ts";
import { Script, START, transfer } from "./script.ts";
import { bring, history } from "./support.ts";

const ANN = { tenantId: "acme", userId: "ann", roles: [], scopes: ["confirmations:decide", "lab:transfer"] };

test("the inbox goes on where its page ended", async () => {
  const db = history();
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const script = new Script({ n, at: START + n * 1_000 });
    script.say("go").plan([transfer(1)]);
    await bring(db, script);
    ids.unshift(script.call(1));
  }
  const seen: string[] = [];
  let after: string | null | undefined;
  do {
    const page = await historyReader(db).confirmations(ANN, {
      now: START,
      limit: 1,
      ...(typeof after === "string" ? { after } : {}),
    });
    if (!page.ok) throw new Error(page.rejection.code);
    seen.push(...page.value.data.map(({ id }) => id));
    after = page.value.nextCursor;
  } while (after !== null);
  expect(seen).toEqual(ids);
  for (const bad of ["", "x", "1", "1.x", `x.${ids[0]}`]) {
    const page = await historyReader(db).confirmations(ANN, { now: START, limit: 1, after: bad });
    expect(page).toMatchObject({ ok: false, rejection: { code: "cursor_invalid" } });
  }
});

test("messages are their reader's, in pages, as of an event; to nobody else there are none", async () => {
  const db = history();
  const script = new Script({ n: 1 });
  script.say("one").plan([transfer(1)]);
  await bring(db, script);
  const reads = historyReader(db);
  const page = await reads.messages(ANN, script.id, { after: 0, limit: 1, order: "asc" });
  expect(page).toMatchObject({ stale: true, asOfSeq: script.events.length, data: [{ parts: [{ text: "one" }] }] });
  expect(page?.nextCursor === null || Number(page?.nextCursor) > 0).toBe(true);
  for (const stranger of [
    { ...ANN, userId: "eve" },
    { ...ANN, tenantId: "other" },
  ]) {
    expect(await reads.messages(stranger, script.id, { after: 0, limit: 1, order: "asc" })).toBeNull();
  }
});
