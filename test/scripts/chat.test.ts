import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { card } from "../../scripts/chat/card.ts";
import { linesOf } from "../../scripts/chat/input.ts";
import { optionsOf, returnCommand } from "../../scripts/chat/options.ts";
import { answerOf } from "../../scripts/chat/questions.ts";
import { WORDS } from "../../scripts/chat/words.ts";
import { ToolCall } from "../../src/protocol/tool-call.ts";

const CONVERSATION = "0123456789abcdefghjkmnpqrs";
const callIn = (state: "awaiting_confirmation" | "unknown") =>
  ToolCall.parse({
    id: `${CONVERSATION}.r1.t1`,
    runId: `${CONVERSATION}.r1`,
    tool: "delete_plan",
    title: "Delete a plan",
    argsDigest: "d1",
    effect: "once",
    state,
    attempt: 1,
    expiresAt: "2026-12-01T00:00:00.000Z",
    allowed: [],
    args: { id: "p1" },
    preview: { rows: [{ label: "Deleted", before: "Buy paint" }], reversible: false },
    decisions: [],
  });

function terminal() {
  const source = new PassThrough();
  const sink = new PassThrough();
  const input = linesOf(source, sink);
  const lines: string[] = [];
  const withdrawn = new AbortController();
  const asking = { ask: input.ask, line: (line: string) => lines.push(line), words: WORDS.en };
  return {
    input,
    lines,
    withdrawn,
    type: (line: string) => source.write(`${line}\n`),
    answer: (state: Parameters<typeof callIn>[0]) =>
      answerOf(callIn(state), { ...asking, withdrawn: withdrawn.signal }),
    seen: () => {
      sink.end();
      return text(sink);
    },
  };
}

test("/quit leaves from inside every question, and decides nothing", async () => {
  for (const state of ["awaiting_confirmation", "unknown"] as const) {
    const at = terminal();
    const answer = at.answer(state);
    at.type("/quit");
    await expect(answer).resolves.toBeNull();
    await expect(at.input.ask("you > ")).resolves.toBeNull();
  }
  for (const first of ["r", "e"]) {
    const at = terminal();
    const answer = at.answer("awaiting_confirmation");
    at.type(first);
    at.type("/quit");
    await expect(answer).resolves.toBeNull();
  }
});

test("a question that is withdrawn takes no line: the next one is the next prompt's", async () => {
  const at = terminal();
  const answer = at.answer("awaiting_confirmation");
  at.withdrawn.abort();
  await expect(answer).resolves.toBeNull();
  const next = at.input.ask("you > ");
  at.type("approve of nothing");
  await expect(next).resolves.toBe("approve of nothing");
  await expect(at.seen()).resolves.toContain(`${WORDS.en.choices}\nyou > `);
});

test("what is typed before the question is asked answers it, as from a pipe", async () => {
  const at = terminal();
  at.type("nothing that is offered");
  at.type("e");
  at.type("not JSON");
  at.type("e");
  at.type('{"id": "p2"}');
  await expect(at.answer("awaiting_confirmation")).resolves.toMatchObject({
    decisions: [{ argsDigest: "d1", decision: "edit", args: { id: "p2" } }],
  });
  expect(at.lines).toContain(WORDS.en.notJson);
});

test("a card says until when a decision is open; the outcome of an unknown call may be told at any time", () => {
  expect(card(callIn("awaiting_confirmation"), WORDS.en)).toContain("expires 2026-12-01T00:00:00.000Z");
  expect(card(callIn("unknown"), WORDS.en)).not.toContain("expires");
  expect(card(callIn("unknown"), WORDS.en)).toContain("Buy paint → —");
});

test("options that do not exist are answered with those that do", () => {
  expect(optionsOf(["--lang", "zh", "--user", "bob"])).toMatchObject({ lang: "zh", user: "bob", agent: "planner" });
  expect(optionsOf(["--wat"])).toContain("--agent planner|opspilot");
  expect(optionsOf(["--lang", "fr"])).toContain("--lang fr: there are en and zh");
});

test("the command to come back keeps the user, the language and the service, and never a token", () => {
  const came = ["--agent", "opspilot", "--user", "bob", "--lang", "zh", "--token", "not-a-secret"];
  expect(returnCommand("c1", came)).toBe("npm run chat -- --conversation c1 --user bob --lang zh");
  expect(returnCommand("c1", [])).toBe("npm run chat -- --conversation c1");
});
