import { expect, test } from "vitest";
import { historyFor } from "../../src/history/history-for.ts";
import { readConversations } from "../../src/history/read-conversations.ts";
import { indexed, matchOf } from "../../src/history/search-tokens.ts";
import { person, Script, START } from "./script.ts";
import { bring, history } from "./support.ts";

/** Each text is one conversation of Ann's; the answer names those that are found, newest first. */
async function searchable(texts: readonly string[]) {
  const db = history();
  for (const [at, text] of texts.entries()) {
    const script = new Script({ n: at + 1, title: "untold", at: START + at * 1_000_000 });
    await bring(db, script.say(text).plan([], "noted"));
  }
  const ours = historyFor(db, "acme");
  return async (q: string): Promise<string[]> => {
    const { data } = await readConversations(ours, { userId: "ann" }, { limit: 50, q });
    return data.map(({ createdAt }) => texts[(Date.parse(createdAt) - START) / 1_000_000] ?? "?");
  };
}

test.each([
  ["a Chinese word of two characters", "重启", ["请重启订单服务", "Restart nginx 重启"]],
  ["a longer Chinese phrase", "订单服务", ["请重启订单服务"]],
  ["characters that only stand apart are no word", "请服", []],
  ["the same characters in another order", "启重", []],
  ["one Chinese character", "单", ["请重启订单服务"]],
  ["a traditional name beyond the basic plane", "𠮷野", ["𠮷野家で会う"]],
  ["Japanese in kanji and kana", "会う", ["𠮷野家で会う"]],
  ["katakana with its long mark, also half-width", "ｻｰﾊﾞｰ", ["サーバーが落ちた"]],
  ["Korean inside a longer word", "서버", ["서버를 다시 시작해"]],
  ["Thai, which sets no spaces", "เซิร์ฟเวอร์", ["รีสตาร์ทเซิร์ฟเวอร์"]],
  ["Hindi with its vowel signs", "सर्वर", ["सर्वर फिर से चालू करो"]],
  ["Arabic", "الخادم", ["أعد تشغيل الخادم"]],
  ["Russian in another case", "СЕРВЕР", ["Перезапусти сервер"]],
  ["accents that can be dropped", "cafe", ["Meet at the Café"]],
  ["an English word in another case", "NGINX", ["Restart nginx 重启"]],
  ["the beginning of a word", "rest", ["Restart nginx 重启"]],
  ["two letters are a whole word", "re", []],
  ["words of two scripts together", "nginx重启", ["Restart nginx 重启"]],
  ["all words must occur", "restart café", []],
  ["full-width letters", "ｎｇｉｎｘ", ["Restart nginx 重启"]],
  ["a hyphenated word by its parts", "roll-back", ["Do a roll-back (v2.1)"]],
  ["a number", "v2", ["Do a roll-back (v2.1)"]],
])("search finds %s", async (_what, q, expected) => {
  const search = await searchable([
    "Restart nginx 重启",
    "请重启订单服务",
    "𠮷野家で会う",
    "サーバーが落ちた",
    "서버를 다시 시작해",
    "รีสตาร์ทเซิร์ฟเวอร์",
    "सर्वर फिर से चालू करो",
    "أعد تشغيل الخادم",
    "Перезапусти сервер",
    "Meet at the Café",
    "Do a roll-back (v2.1)",
  ]);
  expect((await search(q)).toSorted()).toEqual(expected.toSorted());
});

test.each([
  '"',
  '""',
  "'",
  "*",
  "AND",
  "OR NOT NEAR",
  "NEAR(a b)",
  "readers : u",
  'words : "x" OR readers : "u61"',
  '" OR singles : "',
  "^restart",
  "-restart",
  "{readers words} : restart",
  "a + b",
  "(",
  ");--",
  "\u0000",
  "\ud800",
  "%_",
  "🚀",
  "",
  " ",
  "é".repeat(5_000),
  "中".repeat(5_000),
  "a b c d e f g h i j k l m n o p q r s t u v w x y z".repeat(50),
])("the question %j is words and never FTS5's language", async (q) => {
  const db = history();
  await bring(db, new Script({ n: 1, owner: person("bob"), title: "restart x AND OR" }));
  await bring(db, new Script({ n: 2, title: "nothing of that" }));
  const { data } = await readConversations(historyFor(db, "acme"), { userId: "ann" }, { limit: 9, q });
  expect(data).toEqual([]);
});

test("operators in a question are searched for as words", async () => {
  const search = await searchable(["to be OR NOT to be", "AND so on"]);
  expect(await search("or not")).toEqual(["to be OR NOT to be"]);
  expect(await search('"AND"')).toEqual(["AND so on"]);
});

test("the title is searchable, the old one no more after a rename, and so is a default title", async () => {
  const db = history();
  const script = new Script({ title: "Quarterly 报表" });
  const untitled = new Script({ n: 2, owner: person("ann") });
  untitled.say("the default heading").plan([], "ok");
  await bring(db, script);
  await bring(db, untitled);
  const ours = historyFor(db, "acme");
  const count = async (q: string) => (await readConversations(ours, { userId: "ann" }, { limit: 9, q })).data.length;
  expect([await count("报表"), await count("quarterly"), await count("heading")]).toEqual([1, 1, 1]);
  const from = script.events.length;
  script.command({ type: "update_conversation", body: { title: "Annual" } });
  script.command({ type: "update_conversation", body: { title: "———" } });
  await bring(db, script, () => 1, script.events.slice(from));
  expect([await count("报表"), await count("annual")]).toEqual([0, 0]);
});

test("a reader's token stands for that tenant and user alone", async () => {
  const db = history();
  const owner = person("ann gu1", { tenantId: "a" });
  await bring(db, new Script({ owner, title: "secret" }));
  const of = async (tenantId: string, userId: string) =>
    (await readConversations(historyFor(db, tenantId), { userId }, { limit: 9, q: "secret" })).data.length;
  expect(await of("a", "ann gu1")).toBe(1);
  expect(await of("a", "ann")).toBe(0);
  expect(await of("a", "gu1")).toBe(0);
  expect(await of("ag", "ann gu1")).toBe(0);
});

test("what is indexed and what is asked are cut alike", () => {
  expect(indexed("GPT模型很好, ok!")).toEqual({ words: "GPT 模型 型很 很好 ok", singles: "模 型 很 好" });
  expect(indexed("  ——🚀 ")).toBeNull();
  expect(matchOf("GPT模型", "u1")).toBe('readers : "u1" AND words : "GPT" * AND words : "模型"');
  expect(matchOf("…", "u1")).toBeNull();
});
