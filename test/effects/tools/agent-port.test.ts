import * as z from "zod";
import { expect, test } from "vitest";
import { Agents } from "../../../src/effects/agent-port.ts";
import { AgentDescription } from "../../../src/protocol/agent.ts";
import { RUN_LIMITS } from "../../../src/protocol/limits.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { ok } from "../../../src/tools/outcome.ts";
import { house, stateOf } from "./house.ts";

const look = defineTool({
  name: "look",
  title: { en: "Look", zh: "看" },
  description: "Looks.",
  effect: "read",
  input: z.object({ at: z.string().describe("where") }),
  output: z.array(z.string()),
  execute: () => Promise.resolve(ok([])),
});

async function port(more: Parameters<typeof house>[1] = {}) {
  const at = await house([look], more);
  return { ...at, agents: new Agents(at.catalogue, at.preparation, at.settings) };
}

test("agents are known by name, and by no name that every object has", async () => {
  const { agents } = await port();
  expect(["test", "constructor", "__proto__", ""].map((name) => agents.exists(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a run gets its agent's limits, or less where it asks for less, never more", async () => {
  const { agents, state } = await port({ limits: { maxSteps: 10 } });
  const { limits } = await agents.start(state, { maxSteps: 40, maxToolErrors: 1 });
  expect(limits).toEqual({ ...RUN_LIMITS, maxSteps: 10, maxToolErrors: 1 });
});

test("a conversation sets limits only where its agent lets it", async () => {
  const metadata = { limits: '{"maxToolErrors":9}' };
  const deaf = await port({ metadata });
  expect((await deaf.agents.start(deaf.state, undefined)).limits.maxToolErrors).toBe(RUN_LIMITS.maxToolErrors);
  const open = await port({ metadata, limitsOf: ({ limits }) => JSON.parse(limits ?? "{}") });
  expect((await open.agents.start(open.state, undefined)).limits.maxToolErrors).toBe(9);
});

test("policy is the agent's, and what it leaves out is the careful choice", async () => {
  const plain = await port();
  expect((await plain.agents.start(plain.state, undefined)).policy).toEqual({
    onLimit: "stop",
    handoverOnLimit: false,
    modelRetries: 0,
    cancelGraceMs: 10_000,
    backoffMs: 1_000,
  });
  const asking = await port({ onLimit: "ask", handoverOnLimit: true, modelRetries: 2 });
  expect((await asking.agents.start(asking.state, undefined)).policy).toMatchObject({
    onLimit: "ask",
    handoverOnLimit: true,
    modelRetries: 2,
  });
});

test("an agent's digest changes with prompt, limits, model and tools, and stays otherwise", async () => {
  const digest = async (more: Parameters<typeof house>[1]) => {
    const { agents, state } = await port(more);
    return (await agents.start(state, undefined)).agentDigest;
  };
  const before = await digest({});
  expect(await digest({})).toBe(before);
  const others = [
    await digest({ prompt: () => "Other." }),
    await digest({ limits: { maxSteps: 3 } }),
    await digest({ model: () => "other" }),
    await digest({ tools: [] }),
  ];
  expect(new Set([before, ...others]).size).toBe(5);
});

test("a tool that is gone has no digest; an agent that is gone starts no run", async () => {
  const { agents, state } = await port();
  expect(await agents.toolDigest(state, "look")).toMatch(/^[\w-]{43}$/);
  expect(await agents.toolDigest(state, "toString")).toBeNull();
  expect(await agents.toolDigest(stateOf("gone"), "look")).toBeNull();
  await expect(agents.start(stateOf("gone"), undefined)).rejects.toThrow("gone");
});

test("agents describe themselves in the reader's language, with JSON Schema and policy", async () => {
  const { agents } = await port();
  const [shown] = await agents.describe("zh");
  expect(AgentDescription.parse(shown)).toEqual(shown);
  expect(shown?.tools).toEqual([
    {
      name: "look",
      title: "看",
      description: "Looks.",
      effect: "read",
      confirm: "never",
      inputSchema: { type: "object", properties: { at: { type: "string", description: "where" } }, required: ["at"] },
      outputSchema: { type: "array", items: { type: "string" } },
    },
  ]);
});
