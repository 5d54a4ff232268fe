/**
 * `npm run e2e:live`: the planner over a real model. Only with `OPENAI_API_KEY` (and, for another provider,
 * `OPENAI_BASE_URL` and `OPENAI_MODEL`); it costs some cents, and is no part of `npm test`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, startService, type Service } from "../../scripts/service.ts";
import type { Conversation } from "../../src/protocol/conversation.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Page } from "../../src/protocol/rpc.ts";
import { LiveClient } from "./live-client.ts";

describe.skipIf(!process.env["OPENAI_API_KEY"])("the planner over a real model", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdpoint-live-"));
  let service: Service;
  let client: LiveClient;
  let id: string;

  beforeAll(async () => {
    service = await startService({ port: await freePort(), stateDir });
    const { baseUrl } = service;
    const signIn = await fetch(`${baseUrl}/dev/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ userId: "live" }),
    });
    const { token } = (await signIn.json()) as { token: string };
    const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const key = () => crypto.randomUUID();
    client = new LiveClient({ baseUrl, token, fetch, sleep, key, now: () => Date.now() });
    ({ id } = await client.post<Conversation>("/v1/conversations", { agent: "planner" }));
  }, 90_000);
  afterAll(async () => {
    await service.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });

  test("it answers, and says what that took", async () => {
    const run = await client.turn(id, "Which plans do I have?");
    expect(run).toMatchObject({ status: "completed", stop: { code: "final_answer" } });
    expect(run.usage.inputTokens).toBeGreaterThan(0);
    expect(run.usage.outputTokens).toBeGreaterThan(0);
  });

  test("it asks before it writes, and writes what was agreed to", async () => {
    const asked = await client.turn(id, 'Create a plan with the title "Live check".');
    expect(asked).toMatchObject({ status: "interrupted", phase: "awaiting_confirmation" });
    expect(asked.pending).toMatchObject([{ tool: "create_plan", args: { title: "Live check" } }]);
    expect(await client.agree(asked)).toMatchObject({ status: "completed" });
    const { data } = await client.get<Page<Event>>(`/v1/conversations/${id}/events?limit=200`);
    expect(data.filter(({ type }) => type === "tool_call.started").length).toBeGreaterThan(0);
  });

  test("in Chinese it answers in Chinese", async () => {
    const run = await client.turn(id, "我有哪些计划？");
    expect(run.status).toBe("completed");
    const { data } = await client.get<Page<{ parts: { type: string; text?: string }[] }>>(
      `/v1/conversations/${id}/messages?order=desc&limit=1`,
    );
    expect(data[0]?.parts.map(({ text = "" }) => text).join("")).toMatch(/\p{Script=Han}/u);
  });
});
