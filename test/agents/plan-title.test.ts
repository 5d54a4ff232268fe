import { expect, test } from "vitest";
import { asTitle, TITLE_CHARS, titleOf } from "../../src/agents/planner/plan-title.ts";

test.each([
  ["please create a plan to visit Kyoto in spring", "Visit Kyoto in spring"],
  [
    "Please create a plan to learn Rust in three months. I want to begin on Monday, after work.",
    "Learn Rust in three months",
  ],
  ['Create a plan called "Q3 launch"', "Q3 launch"],
  ["create a new plan: paint the fence", "Paint the fence"],
  ["Could you please make me a plan for the offsite in May?", "The offsite in May?"],
  ["can you help me make a plan about eBay sales", "eBay sales"],
  ["I'd like you to set up a plan for marathon training, please!", "Marathon training"],
  ["I want to learn the piano", "Learn the piano"],
  ["I need a plan to pay off the loan", "Pay off the loan"],
  ["Hi! Add a plan for me to call mom every Sunday. Thanks!", "Call mom every Sunday"],
  ["hello, please create a plan that covers onboarding", "Covers onboarding"],
  ["Visit Kyoto in spring", "Visit Kyoto in spring"],
  ["Make America plan", "Make America plan"],
  ["Visit St. Petersburg with Dr. Wu", "Visit St. Petersburg with Dr. Wu"],
  ["iPhone migration", "iPhone migration"],
  ["planning poker setup", "Planning poker setup"],
  ["请帮我创建一个计划：周末去杭州", "周末去杭州"],
  ["帮我创建一个学习 Rust 的计划。", "学习 Rust"],
  ["请新建一个名为“减肥”的计划", "减肥"],
  ["创建一个计划去杭州旅行，谢谢", "去杭州旅行"],
  ["你好，我想学习钢琴", "学习钢琴"],
  ["麻烦你帮我制定一份三个月学会游泳的计划好吗？", "三个月学会游泳"],
  ["帮我做一个计划，内容是每天跑步。从明天开始。", "每天跑步"],
  ["春天去京都", "春天去京都"],
])("%s → %s", (said, title) => {
  expect(titleOf(said)).toBe(title);
});

test.each(["create a plan", "Please make a new plan.", "  ", "创建一个计划", "\u200b"])(
  "%j says nothing but asking",
  (said) => {
    expect(titleOf(said)).toBe("");
  },
);

test("a title is one line, without characters that cannot be seen", () => {
  expect(titleOf("create a plan to buy\u202e kl\u200bim\ttomorrow\r\nand then sleep")).toBe("Buy klim tomorrow");
});

test("a long title is cut between words, and never inside a character", () => {
  const long = titleOf(`create a plan to ${"walk the dog ".repeat(20)}`);
  expect(long.length).toBeLessThanOrEqual(TITLE_CHARS);
  expect(long).toMatch(/(?:dog|the|walk)$/iu);
  const emoji = titleOf("😀".repeat(100));
  expect(emoji.isWellFormed() && emoji.length <= TITLE_CHARS).toBe(true);
});

test("normalising a title again changes nothing", () => {
  for (const title of ["Visit Kyoto in spring", "学习 Rust", "The offsite in May?", "Covers onboarding"]) {
    expect(titleOf(title)).toBe(title);
    expect(asTitle(title)).toBe(title);
  }
});

test("a title that somebody gave as one keeps its words", () => {
  expect(asTitle(" create a plan for the board. ")).toBe("Create a plan for the board");
});
