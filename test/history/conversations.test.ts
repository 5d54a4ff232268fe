import { expect, test } from "vitest";
import { conversationLists } from "../../src/history/conversation-lists.ts";
import { historyFor } from "../../src/history/history-for.ts";
import { readConversation, readConversations } from "../../src/history/read-conversations.ts";
import { readMessages } from "../../src/history/read-messages.ts";
import { readRun, readRuns } from "../../src/history/read-runs.ts";
import { conversationId, longStory, person, Script, START, transfer } from "./script.ts";
import { bring, found, history } from "./support.ts";

const ANN = { userId: "ann" };
const ids = (page: { readonly data: readonly { readonly id: string }[] }) => page.data.map(({ id }) => id);

async function ten() {
  const db = history();
  for (let n = 1; n <= 10; n++) {
    const owner = person(n % 5 === 0 ? "bob" : "ann");
    const script = new Script({ n, owner, agent: n % 2 === 0 ? "planner" : "opspilot", at: START + n * 1_000_000 });
    if (n === 5) script.share("ann", "viewer");
    await bring(db, script);
  }
  return historyFor(db, "acme");
}

test("the list has mine and what is shared with me, newest first, and nobody else's", async () => {
  const ours = await ten();
  const mine = await readConversations(ours, ANN, { limit: 50 });
  expect(ids(mine)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(conversationId));
  expect(mine.next).toBeNull();
  expect(mine.data.find(({ id }) => id === conversationId(5))).toMatchObject({ role: "viewer", agent: "opspilot" });
  expect(ids(await readConversations(ours, { userId: "bob" }, { limit: 50 }))).toEqual([10, 5].map(conversationId));
  expect(ids(await readConversations(ours, { userId: "nobody" }, { limit: 50 }))).toEqual([]);
});

test("pages follow each other without gap or repeat, in both orders and by agent, while new ones are created", async () => {
  const ours = await ten();
  for (const [order, agent, expected] of [
    ["desc", undefined, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ["asc", undefined, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["desc", "planner", [8, 6, 4, 2]],
  ] as const) {
    const seen: string[] = [];
    let before: Awaited<ReturnType<typeof readConversations>>["next"] | undefined;
    for (let pages = 0; before !== null && pages < 10; pages++) {
      const page = await readConversations(ours, ANN, {
        limit: 2,
        order,
        ...(agent === undefined ? {} : { agent }),
        ...(before ? { before } : {}),
      });
      seen.push(...ids(page));
      before = page.next;
    }
    expect(seen).toEqual(expected.map(conversationId));
  }
});

test("a tenant never sees another's, not even of a user with the same name", async () => {
  const db = history();
  await bring(db, new Script({ n: 1, owner: person("ann"), title: "shared words" }));
  await bring(db, new Script({ n: 2, owner: person("ann", { tenantId: "globex" }), title: "shared words" }));
  const other = { ...longStory(3), subject: { ...longStory(3).subject, tenantId: "globex" } };
  await bring(db, other);
  const acme = historyFor(db, "acme");
  expect(ids(await readConversations(acme, ANN, { limit: 50 }))).toEqual([conversationId(1)]);
  expect(ids(await readConversations(acme, ANN, { limit: 50, q: "shared" }))).toEqual([conversationId(1)]);
  expect(await readConversation(acme, ANN, conversationId(2))).toEqual({ kind: "never_written" });
  const query = { after: 0, limit: 50, order: "asc" } as const;
  expect(await readMessages(acme, ANN, conversationId(3), query)).toEqual({ kind: "never_written" });
  expect(await readRuns(acme, ANN, conversationId(3), { limit: 50 })).toEqual({ kind: "never_written" });
});

test("a row says what runs, in which phase, and whether it needs a confirmation", async () => {
  const script = new Script();
  script.say("go").plan([transfer(1)]);
  const db = history();
  await bring(db, script);
  const [row] = (await readConversations(historyFor(db, "acme"), ANN, { limit: 1 })).data;
  expect(row).toMatchObject({
    title: "go",
    activeRun: { id: `${script.id}.r1`, status: "interrupted", phase: "awaiting_confirmation" },
    needsConfirmation: true,
    asOfSeq: script.events.length,
    generation: script.subject.generation,
  });
});

test("who is removed loses list, search and messages at once; who is added gets what was said before", async () => {
  const script = new Script();
  script.share("bob", "viewer").say("the quarterly figures").plan([], "Here they are.");
  const db = history();
  await bring(db, script);
  const ours = historyFor(db, "acme");
  const bob = { userId: "bob" };
  const sees = async (who: { userId: string }) => [
    (await readConversations(ours, who, { limit: 9 })).data.length,
    (await readConversations(ours, who, { limit: 9, q: "quarterly" })).data.length,
    (await readMessages(ours, who, script.id, { after: 0, limit: 9, order: "asc" })).kind,
  ];
  expect(await sees(bob)).toEqual([1, 1, "found"]);
  const from = script.events.length;
  script.command({ type: "remove_participant", userId: "bob", body: {} }).share("kim", "editor");
  await bring(db, script, () => 9, script.events.slice(from));
  expect(await sees(bob)).toEqual([0, 0, "never_written"]);
  expect(await sees({ userId: "kim" })).toEqual([1, 1, "found"]);
});

test("viewers see runs without the arguments of their calls; the starter sees them", async () => {
  const script = new Script();
  script
    .share("eve", "viewer")
    .say("go")
    .plan([transfer(1)]);
  const db = history();
  await bring(db, script);
  const ours = historyFor(db, "acme");
  const runId = `${script.id}.r1`;
  expect(found(await readRun(ours, ANN, runId)).pending[0]?.args).toEqual({ recipient_id: "r1", amount_cents: 1 });
  const seen = JSON.stringify(found(await readRun(ours, { userId: "eve" }, runId)));
  expect(seen).toContain("awaiting_confirmation");
  expect(seen).not.toContain("recipient_id");
});

test("runs come newest first in pages", async () => {
  const script = new Script();
  for (let n = 0; n < 5; n++) script.say(`run ${n}`).plan([], "ok");
  const db = history();
  await bring(db, script);
  const ours = historyFor(db, "acme");
  const first = found(await readRuns(ours, ANN, script.id, { limit: 3 }));
  const second = found(await readRuns(ours, ANN, script.id, { limit: 3, before: first.next ?? 0 }));
  expect([...first.data, ...second.data].map(({ input }) => input.text)).toEqual(
    [4, 3, 2, 1, 0].map((n) => `run ${n}`),
  );
  expect(second.next).toBeNull();
});

test("messages come in pages from either end", async () => {
  const script = longStory();
  const db = history();
  await bring(db, script);
  const ours = historyFor(db, "acme");
  for (const order of ["asc", "desc"] as const) {
    const seqs: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page: { readonly data: readonly { readonly seq: number }[]; readonly next: number | null } = found(
        await readMessages(ours, ANN, script.id, { after, limit: 2, order }),
      );
      seqs.push(...page.data.map(({ seq }) => seq));
      after = page.next;
    }
    const sorted = seqs.toSorted((a, b) => (order === "asc" ? a - b : b - a));
    expect(seqs).toEqual(sorted);
    expect(new Set(seqs).size).toBe(db.rows("SELECT seq FROM messages").length);
  }
});

test("found, never written, not yet and lost are told apart", async () => {
  const script = new Script();
  script.say("hello").plan([], "hi");
  const db = history();
  const ours = historyFor(db, "acme");
  const head = script.events.length;
  const { generation } = script.subject;
  const query = { after: 0, limit: 9, order: "asc" } as const;
  const kinds = async (known?: { generation: string; headSeq: number; projectedSeq: number }) => {
    const reads = [
      await readConversation(ours, ANN, script.id, known),
      await readMessages(ours, ANN, script.id, query, known),
      await readRuns(ours, ANN, script.id, { limit: 9 }, known),
    ];
    return [...new Set(reads.map(({ kind }) => kind))];
  };
  expect(await kinds()).toEqual(["never_written"]);
  expect(await kinds({ generation, headSeq: head, projectedSeq: 0 })).toEqual(["not_yet"]);
  expect(await kinds({ generation, headSeq: head, projectedSeq: 3 })).toEqual(["lost"]);
  await bring(db, script, () => 9, script.events.slice(0, 4));
  expect(await kinds()).toEqual(["found"]);
  expect(await kinds({ generation, headSeq: head, projectedSeq: 4 })).toEqual(["found"]);
  expect(await kinds({ generation, headSeq: head, projectedSeq: 5 })).toEqual(["lost"]);
  expect(await kinds({ generation: "another0", headSeq: head, projectedSeq: 4 })).toEqual(["lost"]);
  const known = { generation, headSeq: head, projectedSeq: 4 };
  expect(await readRun(ours, ANN, `${script.id}.r2`, known)).toEqual({ kind: "not_yet" });
  expect(await readRun(ours, ANN, `${script.id}.r2`)).toEqual({ kind: "never_written" });
});

test("a database that fails makes a read throw, never an empty answer", async () => {
  const ours = await ten();
  const db = history();
  db.before = () => {
    throw new Error("down");
  };
  await expect(readConversations({ ...ours, db }, ANN, { limit: 9 })).rejects.toThrow("down");
  await expect(
    readMessages({ ...ours, db }, ANN, conversationId(1), { after: 0, limit: 9, order: "asc" }),
  ).rejects.toThrow("down");
});

test("the edge's lists take a place as text, and refuse one that is none", async () => {
  const { db } = await ten();
  const lists = conversationLists(db);
  const first = await lists.list("acme", "ann", { limit: 4, order: "desc" });
  if (!first.ok) throw new Error("refused");
  const second = await lists.list("acme", "ann", { limit: 40, order: "desc", after: first.value.nextCursor ?? "" });
  if (!second.ok) throw new Error("refused");
  expect([...ids(first.value), ...ids(second.value)]).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map(conversationId));
  expect(second.value.nextCursor).toBeNull();
  for (const after of ["", "x", "1", "1.2", `1e3.${conversationId(1)}`, `1.${conversationId(1)}'`]) {
    expect(await lists.list("acme", "ann", { limit: 4, after })).toMatchObject({
      ok: false,
      rejection: { code: "cursor_invalid" },
    });
  }
});
