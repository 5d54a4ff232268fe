/** The scripted model with opspilot's real tools on a database: what it reads is what the fleet says, not what a test says. */
import { expect, test } from "vitest";
import { opspilot } from "../../src/agents/opspilot/opspilot.ts";
import { modelClient } from "../../src/effects/model-client.ts";
import { rehearsalFetch } from "../../src/rehearsal/rehearsal-fetch.ts";
import { MINUTE, OPS_SCOPES, opsHouse } from "../agents/ops-house.ts";
import { ask } from "../effects/model/ask.ts";
import { ALICE, Story } from "../effects/model/story.ts";
import { offline } from "./rehearse.ts";

/** A person who says things and approves everything that is proposed; answers everything that people read. */
async function play(locale: string) {
  const house = await opsHouse();
  const { preparation, execution, clock } = house;
  const story = new Story("opspilot");
  const client = modelClient({}, { fetch: offline, rehearsal: rehearsalFetch({}) });
  const signal = new AbortController().signal;
  const said: string[] = [];
  const approved: string[] = [];

  const answer = async () => {
    const { result, text } = await ask(client, {
      story,
      deps: { agentOf: () => opspilot, prepareCalls: (effect, io, calls) => preparation.calls(effect, io, calls) },
    });
    said.push(text);
    story.model(result);
  };
  const act = async () => {
    for (let effects = story.executing; effects.length > 0; effects = story.executing) {
      for (const effect of effects) {
        const { result, payloads } = await execution.call(effect, { state: story.state, signal, authHeader: null });
        for (const { digest, body } of payloads) story.payloads.set(digest, body);
        story.tool(effect, result);
      }
    }
  };
  const say = async (text: string) => {
    said.length = 0;
    approved.length = 0;
    story.start(text, { locale, scopes: ["confirmations:decide", ...OPS_SCOPES] });
    for (let turn = 0; story.state.active; turn++) {
      if (turn > 20) throw new Error("the run does not end");
      if (story.asking) await answer();
      await act();
      for (const call of story.state.active?.calls ?? []) {
        if (call.state !== "awaiting_confirmation") continue;
        approved.push(`${call.tool} ${JSON.stringify(call.preview?.rows.map(({ before, after }) => [before, after]))}`);
        const decision = { toolCallId: call.id, argsDigest: call.argsDigest, decision: "approve" as const };
        story.command(
          { type: "resume", runId: story.state.active?.id ?? "", body: { decisions: [decision] } },
          { resume: { toolDigests: { [call.id]: call.toolDigest }, edits: {}, results: {} } },
          { ...ALICE, scopes: ["confirmations:decide", ...OPS_SCOPES] },
        );
      }
      await act();
    }
    return said.join("\n");
  };
  return { say, approved, clock, story };
}

test("in English: it fails, is restarted with a yes, is mended with a yes, and stays well", async () => {
  const { say, approved, clock, story } = await play("en");
  expect(await say("How are the services?")).toContain(
    "web is degraded, checkout is failing, search is healthy, mailer is healthy.",
  );
  const told = await say("Something is wrong with the shop: please fix it");
  expect(told).toContain("- cache_max_mb is 0: the cache has no bound (recommended: 128)\n- memory at 384 of 512 MB");
  expect(told).toContain("Done: checkout has restarted and is healthy.");
  expect(told).toMatch(/Done: cache_max_mb of checkout is now 128; it was 0\.$/);
  expect(approved).toEqual([
    'restart_service [[null,null],["failing","restarting"],[null,null],[null,null],[null,null]]',
    'set_config [[null,null],["0 MB","128 MB"],[null,null]]',
  ]);
  clock.now += 500 * MINUTE;
  expect(await say("fix it")).toContain("All services are healthy; there is nothing to mend.");
  expect(approved).toEqual([]);
  expect(story.violations()).toEqual([]);
});

test("in Chinese: a restart alone mends it for a while only", async () => {
  const { say, approved, clock, story } = await play("zh-CN");
  expect(await say("checkout 为什么出故障？")).toMatch(/out of memory: killed[^]*请说：重启 checkout/);
  expect(await say("重启 checkout")).toContain("好了：checkout 已重启，现在正常。");
  expect(approved).toEqual([expect.stringContaining('["故障","正在重启"]')]);
  expect(await say("各个服务怎么样？")).toContain("web 正常，checkout 正常");
  clock.now += 20 * MINUTE;
  expect(await say("各个服务怎么样？")).toContain("checkout 故障");

  const told = await say("商店出问题了，请修复");
  expect(told).toContain("但原因还在：checkout 的 cache_max_mb 是 0。我建议改为 128。");
  expect(told).toMatch(/好了：checkout 的 cache_max_mb 已从 0 改为 128。$/);
  clock.now += 500 * MINUTE;
  expect(await say("各个服务怎么样？")).toContain("web 正常，checkout 正常，search 正常，mailer 正常。");
  expect(await say("为 checkout 创建一个事件：内存用尽")).toContain("好了：已创建 INC-1001：“内存用尽”。");
  const shown = story.events.flatMap(({ type, data }) =>
    type === "tool_call.finished" ? [(data as { payload: { displayText: string } }).payload.displayText] : [],
  );
  expect(shown).toContain("已将 checkout.cache_max_mb 从 0 MB 改为 128 MB。");
  expect(shown.filter((text) => !/\p{Script=Han}/u.test(text))).toEqual([]);
});
