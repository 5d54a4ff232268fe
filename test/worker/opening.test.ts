/** An object that could not be opened is no dead object: what failed may have passed. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { ConversationObject } from "../../src/conversation-object.ts";
import type { RequestContext } from "../../src/protocol/principal.ts";

const CONTEXT: RequestContext = {
  tenantId: "t",
  userId: "u",
  roles: [],
  scopes: [],
  requestId: "r",
  traceId: "t",
  expiresAt: Number.MAX_SAFE_INTEGER,
};

/** The environment, but for a database that cannot be reached the first so many times. */
function weather(failures: number): { readonly env: Env; readonly met: () => number } {
  let met = 0;
  const changed = { ...env };
  Object.defineProperty(changed, "HISTORY", {
    get: () => {
      met += 1;
      if (met <= failures) throw new Error("the weather");
      return env.HISTORY;
    },
  });
  return { env: changed, met: () => met };
}

test("it is opened again by whoever comes next, once for all who wait", async () => {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, async (_object, ctx) => {
    const { env: changed, met } = weather(2);
    const object = new ConversationObject(ctx, changed);
    const ask = () => object.snapshot(CONTEXT);
    await expect(ask()).rejects.toThrow("the object is not open");
    expect(met()).toBe(2);
    const answers = await Promise.all([ask(), ask(), ask()]);
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, rejection: { code: "not_found" } });
    expect(answers).toHaveLength(3);
    expect(met()).toBe(3);
  });
});

test("its alarm opens it, or stays", async () => {
  const stub = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  await runInDurableObject(stub, async (_object, ctx) => {
    const { env: changed, met } = weather(2);
    const object = new ConversationObject(ctx, changed);
    await object.alarm();
    expect(met()).toBe(2);
    expect(await ctx.storage.getAlarm()).toBeGreaterThan(Date.now());
    await ctx.storage.deleteAlarm();
    await object.alarm();
    expect(met()).toBe(3);
    expect(await ctx.storage.getAlarm()).toBeNull();
  });
});
