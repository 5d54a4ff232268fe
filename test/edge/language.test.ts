import { describe, expect, test } from "vitest";
import { acceptedLang } from "../../src/edge/language.ts";
import type { Message } from "../../src/protocol/message.ts";
import { CONVERSATION, emptyActor, problemIn, testEdge } from "./support/edge.ts";

test.each([
  [null, null],
  ["", null],
  ["*", null],
  ["de, fr;q=0.9", null],
  ["zh", "zh"],
  ["zh-Hant-TW", "zh"],
  ["EN-gb", "en"],
  ["de, zh-CN;q=0.5, en;q=0.4", "zh"],
  ["zh;q=0.3, en;q=0.8", "en"],
  ["zh;q=0, en;q=0", null],
  ["zh;q=lots, en;q=0.1", "en"],
  ["zhx, english", null],
  [`${"a,".repeat(2_000)}zh`, "zh"],
])("Accept-Language: %s asks for %s", (header, lang) => {
  expect(acceptedLang(header)).toBe(lang);
});

describe("problems", () => {
  const ask = async (acceptLanguage?: string, locale?: string) => {
    const test = testEdge();
    const authorization = `Bearer ${await test.token({ userId: "alice", ...(locale ? { locale } : {}) })}`;
    const headers = acceptLanguage === undefined ? {} : { "accept-language": acceptLanguage };
    const response = await test.call("GET", `/v1/conversations/${CONVERSATION}`, { authorization, headers });
    const { title, ...problem } = await problemIn(response);
    return { ...problem, title, language: response.headers.get("content-language") };
  };

  test("have their title in the language of the sign-in, or in the one that the client asks for", async () => {
    expect(await ask()).toMatchObject({ title: "Not found", language: "en" });
    expect(await ask(undefined, "zh-CN")).toMatchObject({ title: "未找到", language: "zh" });
    expect(await ask("zh")).toMatchObject({ title: "未找到" });
    expect(await ask("en", "zh-CN")).toMatchObject({ title: "Not found" });
    expect(await ask("de", "zh-CN")).toMatchObject({ title: "未找到" });
  });

  test("have the same code, type and detail in every language", async () => {
    const [en, zh] = [await ask("en"), await ask("zh")];
    const same = { title: "", language: "", requestId: "" };
    expect({ ...zh, ...same }).toEqual({ ...en, ...same });
  });

  test("have it also before anybody has signed in, and where there is no route", async () => {
    const { call } = testEdge();
    const headers = { "accept-language": "zh-CN,zh;q=0.9" };
    expect(await problemIn(await call("GET", "/v1/me", { authorization: null, headers }))).toMatchObject({
      title: "请先登录",
    });
    expect(await problemIn(await call("GET", "/nothing", { headers }))).toMatchObject({ title: "未找到" });
    expect(await problemIn(await call("PUT", "/v1/me", { headers }))).toMatchObject({ title: "不允许此方法" });
  });
});

test("notices among the messages are sentences in the reader's language", async () => {
  const notice: Message = {
    id: `${CONVERSATION}.m2`,
    role: "assistant",
    by: { kind: "agent", id: "lab" },
    parts: [{ type: "notice", code: "step_limit", params: { bound: 25 } }],
    status: "complete",
    seq: 9,
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  const { call } = testEdge({
    ...emptyActor,
    messages: async () => ({ ok: true, value: { data: [notice], nextCursor: null } }),
  });
  const read = async (language: string) => {
    const headers = { "accept-language": language };
    return (await call("GET", `/v1/conversations/${CONVERSATION}/messages`, { headers })).json();
  };
  const shown = (text: string) => ({ data: [{ parts: [{ code: "step_limit", params: { bound: 25 }, text }] }] });
  expect(await read("en")).toMatchObject(shown("I stopped: this took more steps than I am allowed (25)."));
  expect(await read("zh")).toMatchObject(shown("步骤数超出允许范围（25），我已停止。"));
});

test("agents are described in the language that the client asks for", async () => {
  const asked: (string | undefined)[] = [];
  const { call } = testEdge(emptyActor, {
    agents: async (locale) => {
      asked.push(locale);
      return [];
    },
  });
  for (const language of ["zh-CN", "en"]) await call("GET", "/v1/agents", { headers: { "accept-language": language } });
  expect(asked).toEqual(["zh", "en"]);
});
