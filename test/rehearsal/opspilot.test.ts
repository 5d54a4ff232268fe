import { describe, expect, test } from "vitest";
import { COMMON } from "../../src/rehearsal/scripts/common.ts";
import { OPSPILOT } from "../../src/rehearsal/scripts/opspilot.ts";
import { Rehearsal } from "./rehearse.ts";

const service = (id: string, health: string) => ({ id, health });
const FLEET = { services: [service("web", "degraded"), service("checkout", "failing"), service("search", "healthy")] };
const setting = (name: string, value: number, recommended: number) => ({ name, value, recommended, version: 1 });
const CHECKOUT = {
  ...service("checkout", "failing"),
  settings: [setting("cache_max_mb", 0, 128), setting("timeout_ms", 2_000, 2_000)],
};
const says = (...messages: string[]) => ({ lines: messages.map((message) => ({ message })) });
const LOGS = says("cache_max_mb is 0: the cache has no bound (recommended: 128)", "out of memory: killed (exit 137)");

/** Up to the proposal of the restart. */
async function proposed(said: string, scopes?: string[]): Promise<{ rehearsal: Rehearsal; text: string }> {
  const rehearsal = Rehearsal.opspilot(scopes);
  await rehearsal.say(said);
  rehearsal.works(FLEET);
  await rehearsal.next();
  expect(rehearsal.calls.map(({ tool, args }) => [tool, args])).toEqual([
    ["get_service", { service_id: "checkout" }],
    ["read_logs", { service_id: "checkout" }],
  ]);
  rehearsal.works(CHECKOUT, LOGS);
  return { rehearsal, text: await rehearsal.next() };
}

describe("an act of which a person said that it happened", () => {
  test("is told without what only a tool could know", () => {
    expect(OPSPILOT.en.restarted("checkout", null)).toBe("Done: checkout has restarted.");
    expect(OPSPILOT.en.set("checkout", "cache_max_mb", null, "128")).toBe("Done: cache_max_mb of checkout is now 128.");
    expect(OPSPILOT.zh.opened(null, "慢")).toBe("好了：已创建事件：“慢”。");
  });
});

describe("an act that was rejected", () => {
  const said = (reason: string) => ({ code: "rejected", message: `A person rejected this.${reason}` });

  test("is told with the person's reason, in one language", () => {
    expect(COMMON.en.failed(said(" (not today)"), "restarting it")).toBe(
      "I have not done it: restarting it was rejected: not today.",
    );
    expect(COMMON.zh.failed(said(" (今天不行)"), "重启")).toBe("没有执行：重启被拒绝了：今天不行。");
    expect(COMMON.zh.failed(said(""), "重启")).toBe("没有执行：重启被拒绝了。");
  });
});

describe.each([
  {
    lang: "en",
    said: "Something is wrong with the shop: please fix it",
    looking: "Let me look at the services.",
    restart: /^The logs of checkout say:\n- cache_max_mb is 0[^]*I propose to restart checkout/,
    again:
      /^Done: checkout has restarted and is healthy\.\nThe cause is still there: cache_max_mb of checkout is 0[^]*128/,
    done: "Done: cache_max_mb of checkout is now 128; it was 0.",
  },
  {
    lang: "zh",
    said: "商店出问题了，请修复",
    looking: "我看一下各个服务。",
    restart: /^checkout 的日志写着：\n- cache_max_mb is 0[^]*我建议重启 checkout/,
    again: /^好了：checkout 已重启，现在正常。\n但原因还在：checkout 的 cache_max_mb 是 0[^]*128/,
    done: "好了：checkout 的 cache_max_mb 已从 0 改为 128。",
  },
])("the story in $lang", ({ said, looking, restart, again, done }) => {
  test("list, look, restart, then the cause: each act waits for a yes", async () => {
    expect(await Rehearsal.opspilot().say(said)).toBe(looking);
    const { rehearsal, text } = await proposed(said);
    expect(text).toMatch(restart);
    expect(rehearsal.calls).toMatchObject([{ tool: "restart_service", args: { service_id: "checkout" } }]);
    rehearsal.story.decideOn(rehearsal.calls[0], "approve");
    rehearsal.works({ ...service("checkout", "healthy") });

    expect(await rehearsal.next()).toMatch(again);
    const args = { service_id: "checkout", key: "cache_max_mb", value: 128 };
    expect(rehearsal.calls).toMatchObject([{ tool: "set_config", args }]);
    rehearsal.story.decideOn(rehearsal.calls[0], "approve");
    rehearsal.works({ before: 0, after: 128, version: 2 });
    expect(await rehearsal.next()).toBe(done);
    expect(rehearsal.story.state.latest?.stop?.code).toBe("final_answer");
    expect(rehearsal.story.violations()).toEqual([]);
  });
});

test("a restart that was rejected, or of which nobody knows, is the end of it, and is said", async () => {
  const rejected = (await proposed("fix checkout")).rehearsal;
  rejected.story.decideOn(rejected.calls[0], "reject");
  expect(await rejected.next()).toMatch(/^I have not done it: restarting checkout was rejected/);

  const unknown = (await proposed("fix it")).rehearsal;
  unknown.story.decideOn(unknown.calls[0], "approve");
  unknown.story.crash();
  unknown.story.resolve(unknown.calls[0], "give_up");
  expect(await unknown.next()).toMatch(/cannot say whether restarting checkout happened/);
});

test("where the logs blame no setting, none is changed", async () => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say("fix checkout");
  rehearsal.works(FLEET);
  await rehearsal.next();
  rehearsal.works(CHECKOUT, says("disk broken"));
  await rehearsal.next();
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works(service("checkout", "healthy"));
  expect(await rehearsal.next()).toBe("Done: checkout has restarted and is healthy.");
});

test("a setting that was mended since it was written about is not blamed", async () => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say("why is checkout failing?");
  rehearsal.works({ ...CHECKOUT, settings: [setting("cache_max_mb", 128, 128)] }, LOGS);
  const said = await rehearsal.next();
  expect(said).toContain("say: Restart checkout");
  expect(said).not.toContain("To remove the cause");
});

test("what is slow and not down is not restarted: its cause is removed", async () => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say("fix checkout");
  rehearsal.works({ services: [service("checkout", "degraded")] });
  await rehearsal.next();
  rehearsal.works({ ...CHECKOUT, health: "degraded" }, LOGS);
  await rehearsal.next();
  expect(rehearsal.calls).toMatchObject([{ tool: "set_config" }]);
  rehearsal.story.decideOn(rehearsal.calls[0], "approve");
  rehearsal.works({ before: 0, after: 128 });
  expect(await rehearsal.next()).toMatch(/^Done: cache_max_mb/);
});

test("where all is well there is nothing to mend", async () => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say("fix it");
  rehearsal.works({ services: [service("web", "healthy")] });
  expect(await rehearsal.next()).toBe("All services are healthy; there is nothing to mend.");
});

test("it lists, explains, and says what it could do", async () => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say("How are the services?");
  rehearsal.works(FLEET);
  expect(await rehearsal.next()).toBe("web is degraded, checkout is failing, search is healthy.");
  await rehearsal.say("checkout 为什么出故障？");
  rehearsal.works(CHECKOUT, LOGS);
  expect(await rehearsal.next()).toMatch(/请说：重启 checkout\n.*把 checkout 的 cache_max_mb 设为 128$/);
});

test.each([
  ["Restart checkout.", "restart_service", { service_id: "checkout" }],
  ["重启服务 checkout", "restart_service", { service_id: "checkout" }],
  ["Set cache_max_mb of checkout to 128", "set_config", { service_id: "checkout", key: "cache_max_mb", value: 128 }],
  [
    "把 checkout 的 cache_max_mb 设为 128 MB",
    "set_config",
    { service_id: "checkout", key: "cache_max_mb", value: "128 MB" },
  ],
  ["Open a low incident for web: slow", "open_incident", { service_id: "web", severity: "low", title: "slow" }],
  [
    "为 checkout 创建一个严重级别的事件：内存用尽",
    "open_incident",
    { service_id: "checkout", severity: "critical", title: "内存用尽" },
  ],
])("%s", async (said, tool, args) => {
  const rehearsal = Rehearsal.opspilot();
  await rehearsal.say(said);
  expect(rehearsal.calls.map((call) => [call.tool, call.args])).toEqual([[tool, args]]);
});

test("a tool that the sign-in does not give is not called", async () => {
  const { rehearsal, text } = await proposed("fix it", []);
  expect(text).toMatch(/does not give me the tool restart_service/);
  expect(rehearsal.story.state.latest?.stop?.code).toBe("final_answer");
});

test.each(["en", "zh"] as const)("every prompt that it offers (%s) leads somewhere", async (lang) => {
  expect(await Rehearsal.opspilot().say(lang === "en" ? "hello" : "你好")).toContain(OPSPILOT[lang].prompts[0]);
  for (const prompt of OPSPILOT[lang].prompts) {
    const rehearsal = Rehearsal.opspilot();
    const said = await rehearsal.say(prompt);
    expect(rehearsal.calls.length > 0 || said === COMMON[lang].tale(), prompt).toBe(true);
  }
});
