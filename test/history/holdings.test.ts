import { expect, test } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readHoldings } from "../../src/history/read-holdings.ts";
import { conversationId, person, Script, transfer } from "./script.ts";
import { bring, history } from "./support.ts";

/** 1: ann's. 2: bob's, shared with ann. 3: bob's alone. 4: bob's, ann removed while her run waits. 5: ann operates. 6: another tenant's ann. 7: carol's, an operator is wanted. */
async function seven() {
  const db = history();
  const bob = person("bob");
  const elsewhere = { ...person("ann"), tenantId: "umbra" };
  const operator = person("ann", { scopes: ["handover:operate"] });
  const scripts = [
    new Script({ n: 1 }),
    new Script({ n: 2, owner: bob }).share("ann", "viewer"),
    new Script({ n: 3, owner: bob }),
    new Script({ n: 4, owner: bob })
      .share("ann", "editor")
      .say("pay", person("ann"))
      .plan([transfer(1)])
      .command({ type: "remove_participant", userId: "ann", body: {} }),
    new Script({ n: 5, owner: bob })
      .command({ type: "take_over", body: {} })
      .command({ type: "take_over", body: {} }, operator),
    new Script({ n: 6, owner: elsewhere }),
    new Script({ n: 7, owner: person("carol") }).command({ type: "take_over", body: {} }),
  ];
  for (const script of scripts) await bring(db, script);
  return db;
}
const ids = (...numbers: number[]) => numbers.map(conversationId);
const all = { after: "", limit: 50 };

test("of a user: places, what anybody operates or is asked to, and runs that go on without a place", async () => {
  const ours = historyFor(await seven(), "acme");
  expect(await readHoldings(ours, { ...all, userId: "ann" })).toEqual(ids(1, 2, 4, 5, 7));
  expect(await readHoldings(ours, { ...all, userId: "bob" })).toEqual(ids(2, 3, 4, 5, 7));
  expect(await readHoldings(ours, { ...all, userId: "nobody" })).toEqual(ids(5, 7));
});

test("of a tenant: all of its own, in pages that follow each other", async () => {
  const db = await seven();
  expect(await readHoldings(historyFor(db, "acme"), all)).toEqual(ids(1, 2, 3, 4, 5, 7));
  expect(await readHoldings(historyFor(db, "umbra"), all)).toEqual(ids(6));
  expect(await readHoldings(historyFor(db, "acme"), { after: conversationId(2), limit: 2 })).toEqual(ids(3, 4));
});
