import { expect, test } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readConfirmations, type InboxQuery, type InboxScope } from "../../src/history/read-confirmations.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { conversationId, person, Script, START, transfer } from "./script.ts";
import { bring, history } from "./support.ts";

const SCOPES = ["confirmations:decide", "lab:transfer"];
const scopeOf = (userId: string, more: Partial<InboxScope> = {}): InboxScope => ({
  userId,
  roles: [],
  scopes: SCOPES,
  ...more,
});

async function inbox(db: D1OnNodeSqlite, who: InboxScope, query: Partial<InboxQuery> = {}) {
  return readConfirmations(historyFor(db, "acme"), who, { now: START, limit: 50, ...query });
}
const seen = async (db: D1OnNodeSqlite, userId: string, more: Partial<InboxScope> = {}) =>
  (await inbox(db, scopeOf(userId, more))).data.map(({ id }) => id.slice(26));

/** Ann owns; one confirmation waits. */
function waiting(n = 1, more: Parameters<typeof transfer>[1] = {}): Script {
  const script = new Script({ n });
  script.share("bob", "approver").share("joe", "editor").share("eve", "viewer");
  return script.say("go").plan([transfer(1, more)]);
}

test("an item is the whole call, with where it stands", async () => {
  const script = waiting();
  const db = history();
  await bring(db, script);
  const [item] = (await inbox(db, scopeOf("bob"))).data;
  expect(item).toMatchObject({
    id: script.call(1),
    runId: `${script.id}.r1`,
    tool: "transfer",
    title: "Transfer",
    args: { recipient_id: "r1", amount_cents: 1 },
    argsDigest: "digest-1",
    preview: { rows: [{ label: "To", value: "r1" }] },
    state: "awaiting_confirmation",
    allowed: ["approve", "edit", "reject"],
    decisions: [],
    conversationId: script.id,
    conversationTitle: "go",
    agent: "lab",
    startedBy: { kind: "user", id: "ann" },
    kind: "decision",
    remaining: 1,
    asOfSeq: script.events.length,
  });
});

test("whose role decides sees it, and who started the run; viewers and strangers do not", async () => {
  const db = history();
  await bring(db, waiting());
  expect(await seen(db, "ann")).toEqual([".r1.t1"]);
  expect(await seen(db, "bob")).toEqual([".r1.t1"]);
  expect(await seen(db, "joe")).toEqual([".r1.t1"]);
  expect(await seen(db, "eve")).toEqual([]);
  expect(await seen(db, "zoe")).toEqual([]);
});

test("a starter who has become a viewer still decides their own run", async () => {
  const script = new Script();
  script
    .share("joe", "editor")
    .say("go", person("joe"))
    .plan([transfer(1)])
    .share("joe", "viewer");
  const db = history();
  await bring(db, script);
  expect(await seen(db, "joe")).toEqual([".r1.t1"]);
});

test("nobody sees it without the scope to decide, or without the tool's own", async () => {
  const db = history();
  await bring(db, waiting());
  expect(await seen(db, "bob", { scopes: ["confirmations:decide"] })).toEqual([]);
  expect(await seen(db, "bob", { scopes: ["lab:transfer"] })).toEqual([]);
});

test("where self-approval is off, the starter does not see it and others do", async () => {
  const db = history();
  await bring(db, waiting(1, { gate: { quorum: 1, selfApproval: false, expiresInMs: 3_600_000 } }));
  expect(await seen(db, "ann")).toEqual([]);
  expect(await seen(db, "bob")).toEqual([".r1.t1"]);
});

test("where the tool names approvers, only a sign-in with one of these roles sees it", async () => {
  const db = history();
  const gate = { quorum: 1, selfApproval: true, approvers: ["finance", "cfo"], expiresInMs: 3_600_000 };
  await bring(db, waiting(1, { gate }));
  expect(await seen(db, "bob")).toEqual([]);
  expect(await seen(db, "bob", { roles: ["ops", "cfo"] })).toEqual([".r1.t1"]);
  expect(await seen(db, "bob", { roles: ["finance', 'x"] })).toEqual([]);
});

test("what was decided leaves the inbox; of a quorum it stays with what is missing", async () => {
  const script = waiting(1, { gate: { quorum: 2, selfApproval: true, expiresInMs: 3_600_000 } });
  script.approve(1);
  const db = history();
  await bring(db, script);
  expect((await inbox(db, scopeOf("bob"))).data).toMatchObject([
    { remaining: 1, decisions: [{ decision: "approve" }] },
  ]);
  const from = script.events.length;
  script.approve(1, person("bob"));
  await bring(db, script, () => 50, script.events.slice(from));
  expect(await seen(db, "bob")).toEqual([]);
});

test("an expired one is not shown, whatever the actor has told so far", async () => {
  const script = waiting();
  const db = history();
  await bring(db, script);
  expect((await inbox(db, scopeOf("bob"), { now: START + 3_500_000 })).data).toHaveLength(1);
  expect((await inbox(db, scopeOf("bob"), { now: START + 3_700_000 })).data).toEqual([]);
});

test("an unknown call waits for word, also when its run has ended, until somebody resolves it", async () => {
  const script = waiting();
  script.approve(1).cancel();
  script.now += 60_000;
  script.feed({ type: "time_passed" });
  expect(script.state.active).toBeNull();
  const db = history();
  await bring(db, script);
  const now = START + 90_000_000;
  expect((await inbox(db, scopeOf("bob"), { now })).data).toMatchObject([
    { id: script.call(1), kind: "resolution", state: "unknown", allowed: [] },
  ]);
  const from = script.events.length;
  script.resume({ resolutions: [{ toolCallId: script.call(1), outcome: "give_up" }] });
  await bring(db, script, () => 50, script.events.slice(from));
  expect((await inbox(db, scopeOf("bob"), { now })).data).toEqual([]);
});

test("it spans conversations, newest first, in pages without gap or repeat", async () => {
  const db = history();
  for (let n = 1; n <= 5; n++) {
    const script = waiting(n);
    script
      .cancel(1)
      .say("again")
      .plan([transfer(1), transfer(2)]);
    await bring(db, script);
  }
  const all = (await inbox(db, scopeOf("ann"))).data;
  expect(all).toHaveLength(10);
  expect(all.map(({ openedAt }) => openedAt)).toEqual(
    all
      .map(({ openedAt }) => openedAt)
      .toSorted()
      .toReversed(),
  );
  const paged: string[] = [];
  let page = await inbox(db, scopeOf("ann"), { limit: 3 });
  for (;;) {
    paged.push(...page.data.map(({ id }) => id));
    if (!page.next) break;
    page = await inbox(db, scopeOf("ann"), { limit: 3, before: page.next });
  }
  expect(paged).toEqual(all.map(({ id }) => id));
  expect(new Set(paged).size).toBe(10);
});

test("a participant who comes later sees what already waits; one who leaves does not", async () => {
  const script = waiting();
  script.share("kim", "approver").command({ type: "remove_participant", userId: "bob", body: {} });
  const db = history();
  await bring(db, script);
  expect(await seen(db, "kim")).toEqual([".r1.t1"]);
  expect(await seen(db, "bob")).toEqual([]);
});

test("nothing of another tenant is in it", async () => {
  const db = history();
  const owner = person("ann", { tenantId: "globex" });
  await bring(db, new Script({ owner }).say("go", owner).plan([transfer(1)]));
  expect(await seen(db, "ann")).toEqual([]);
  expect(conversationId(1)).toHaveLength(26);
});
