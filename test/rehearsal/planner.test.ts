import { expect, test } from "vitest";
import { COMMON } from "../../src/rehearsal/scripts/common.ts";
import { PLANNER } from "../../src/rehearsal/scripts/planner.ts";
import { Rehearsal } from "./rehearse.ts";

const plan = (id: string, title: string) => ({ id, title, notes: "", version: 1 });

test("greeting, list, create, confirm: it tells what the results say", async () => {
  const rehearsal = new Rehearsal();
  expect(await rehearsal.say("hello")).toMatch(/scripted model[^]*List my plans/);
  expect(rehearsal.story.state.latest?.stop?.code).toBe("final_answer");

  expect(await rehearsal.say("List my plans")).toBe("Let me look at your plans.");
  rehearsal.works({ plans: [] });
  expect(await rehearsal.next()).toBe("You have no plans yet.");

  await rehearsal.say("Create a plan called Visit Kyoto in spring");
  expect(rehearsal.calls).toMatchObject([{ tool: "create_plan", args: { title: "Visit Kyoto in spring" } }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works(plan("plan_1", "Visit Kyoto in spring"));
  expect(await rehearsal.next()).toBe('Done: the plan "Visit Kyoto in spring" is saved.');

  await rehearsal.say("list my plans");
  rehearsal.works({ plans: [plan("p2", "B"), plan("p1", "A")] });
  expect(await rehearsal.next()).toBe('You have 2 plans: "B", "A".');
  expect(rehearsal.story.violations()).toEqual([]);
});

test("a sentence without a name goes in whole, and the title that was made of it is told", async () => {
  const rehearsal = new Rehearsal();
  await rehearsal.say("Please create a plan to learn the cello");
  expect(rehearsal.calls[0]?.args).toEqual({ title: "Please create a plan to learn the cello" });
  rehearsal.story.decideOn(rehearsal.calls[0], "edit", { title: "Cello" });
  rehearsal.works(plan("p", "Cello"));
  expect(await rehearsal.next()).toBe('Done: the plan "Cello" is saved.');
});

test("it says honestly that it was rejected, that nobody decided, and that the outcome is unknown", async () => {
  const rejected = new Rehearsal();
  await rejected.say("create a plan called X");
  rejected.story.decideOn(rejected.calls[0], "reject");
  expect(await rejected.next()).toMatch(/^I have not done it: creating the plan "X" was rejected/);

  const expired = new Rehearsal();
  await expired.say('create plans "X" and "Y"');
  expired.story.decideOn(expired.calls[0], "reject");
  expired.story.pass(3_600_000);
  expect(await expired.next()).toMatch(/"X" was rejected[^]*nobody decided on creating the plan "Y" in time/);

  const unknown = new Rehearsal();
  await unknown.say("create a plan called X");
  unknown.story.decideOn(unknown.calls[0], "approve");
  unknown.story.crash();
  unknown.story.resolve(unknown.calls[0], "give_up");
  expect(await unknown.next()).toMatch(/cannot say whether creating the plan "X" happened/);
});

test("change and delete look for the plan first, and take the id from the list", async () => {
  const rehearsal = new Rehearsal();
  await rehearsal.say('Rename the plan "Buy paint" to Buy green paint.');
  rehearsal.works({ plans: [plan("p1", "Buy paint"), plan("p2", "Buy paint brushes")] });
  await rehearsal.next();
  expect(rehearsal.calls).toMatchObject([{ tool: "update_plan", args: { plan_id: "p1", title: "Buy green paint" } }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works(plan("p1", "Buy green paint"));
  expect(await rehearsal.next()).toBe('Done: the plan "Buy green paint" is changed.');

  await rehearsal.say("Delete the plan buy GREEN paint");
  rehearsal.works({ plans: [plan("p1", "Buy green paint")] });
  await rehearsal.next();
  expect(rehearsal.calls).toMatchObject([{ tool: "delete_plan", args: { plan_id: "p1" } }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works({ id: "p1", deleted: true });
  expect(await rehearsal.next()).toBe('Done: the plan "Buy green paint" is deleted.');
});

test("a plan that is not there, or is there twice, is not acted on", async () => {
  const rehearsal = new Rehearsal();
  await rehearsal.say("Delete the plan Gone");
  rehearsal.works({ plans: [plan("p1", "A")] });
  expect(await rehearsal.next()).toBe('I found no plan "Gone". Your plans are: "A".');
  await rehearsal.say("Delete the plan paint");
  rehearsal.works({ plans: [plan("p1", "Buy paint"), plan("p2", "Mix paint")] });
  expect(await rehearsal.next()).toMatch(/More than one plan fits "paint": "Buy paint", "Mix paint"/);
});

test("a tool that the sign-in does not give is not called", async () => {
  const rehearsal = new Rehearsal({}, []);
  expect(await rehearsal.say("create a plan called X")).toMatch(/does not give me the tool create_plan/);
});

test("what it does not know it says, with what it knows", async () => {
  const rehearsal = new Rehearsal();
  const said = await rehearsal.say("What is the weather?");
  expect(said).toContain('"What is the weather?"');
  for (const prompt of PLANNER.en.prompts) expect(said).toContain(prompt);
});

test("after an operator has handed back, it goes on in the user's language", async () => {
  const rehearsal = new Rehearsal();
  rehearsal.story.start("列出我的计划");
  rehearsal.story.operator("take_over");
  rehearsal.story.operator({ say: "我来回答。" });
  rehearsal.story.operator("release_handover");
  expect(await rehearsal.next()).toBe(COMMON.zh.backAgain);
});

test.each(["en", "zh"] as const)("every prompt that it offers (%s) leads somewhere", async (lang) => {
  for (const prompt of PLANNER[lang].prompts) {
    const rehearsal = new Rehearsal();
    const said = await rehearsal.say(prompt);
    expect(said, prompt).not.toBe(COMMON[lang].unknown(prompt, PLANNER[lang].prompts));
    const known = rehearsal.calls.length > 0 || said === COMMON[lang].tale();
    expect(known, prompt).toBe(true);
  }
});

test("in Chinese it plays the same scenes", async () => {
  const rehearsal = new Rehearsal();
  expect(await rehearsal.say("你好")).toContain("排练模型");
  await rehearsal.say("创建计划“买油漆”和“刷篱笆”");
  expect(rehearsal.calls.map(({ args }) => args)).toEqual([{ title: "买油漆" }, { title: "刷篱笆" }]);
  for (const call of rehearsal.calls) rehearsal.story.decideOn(call, "approve");
  rehearsal.works(plan("1", "买油漆"), plan("2", "刷篱笆"));
  expect(await rehearsal.next()).toBe("好了：计划“买油漆”已保存。\n好了：计划“刷篱笆”已保存。");
  await rehearsal.say("把计划买油漆改名为买绿油漆");
  rehearsal.works({ plans: [plan("1", "买油漆")] });
  await rehearsal.next();
  expect(rehearsal.calls).toMatchObject([{ tool: "update_plan", args: { plan_id: "1", title: "买绿油漆" } }]);
});

test("the whole story in Chinese: greet, list, create, confirm, change, delete, and what was not done", async () => {
  const rehearsal = new Rehearsal();
  expect(await rehearsal.say("你好")).toMatch(/^你好！我是排练模型[^]*列出我的计划/);
  expect(await rehearsal.say("列出我的计划")).toBe("我看一下你的计划。");
  rehearsal.works({ plans: [] });
  expect(await rehearsal.next()).toBe("你还没有计划。");

  expect(await rehearsal.say("创建一个计划，叫做春天去京都")).toBe("已经准备好，请确认。");
  expect(rehearsal.calls).toMatchObject([{ tool: "create_plan", args: { title: "春天去京都" } }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works(plan("1", "春天去京都"));
  expect(await rehearsal.next()).toBe("好了：计划“春天去京都”已保存。");

  await rehearsal.say("给计划春天去京都添加备注：带雨伞");
  rehearsal.works({ plans: [plan("1", "春天去京都")] });
  await rehearsal.next();
  expect(rehearsal.calls).toMatchObject([{ tool: "update_plan", args: { plan_id: "1", notes: "带雨伞" } }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "reject");
  expect(await rehearsal.next()).toMatch(/^没有执行：修改计划“春天去京都”被拒绝了。/);

  await rehearsal.say("删除计划春天去京都");
  rehearsal.works({ plans: [plan("1", "春天去京都")] });
  await rehearsal.next();
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.story.crash();
  rehearsal.story.resolve(rehearsal.calls[0], "give_up");
  expect(await rehearsal.next()).toMatch(/^我不知道删除计划“春天去京都”是否已经发生/);
  expect(rehearsal.story.violations()).toEqual([]);
});
