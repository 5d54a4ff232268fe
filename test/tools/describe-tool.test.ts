import * as z from "zod";
import { expect, test } from "vitest";
import { availableAgents } from "../../src/agents/registry.ts";
import { ToolDescription } from "../../src/protocol/agent.ts";
import { describeTool, schemasOf } from "../../src/tools/describe-tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { ok } from "../../src/tools/outcome.ts";

const tools = [...availableAgents((name) => (name === "LAB_BACKEND_URL" ? "http://x" : undefined)).values()].flatMap(
  (agent) => agent.tools,
);

test.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s takes an object, and is described in both languages",
  (_, tool) => {
    for (const lang of ["en", "zh"] as const) {
      const shown = describeTool(tool, lang);
      expect(ToolDescription.parse(shown)).toEqual(shown);
      expect(shown.inputSchema).toMatchObject({ type: "object" });
    }
    expect(tool.title.en).not.toBe(tool.title.zh);
    expect(tool.name).toMatch(/^[a-z][a-z_]{0,63}$/);
  },
);

test.each(tools.map((tool) => [tool.name, tool] as const))("%s takes nobody's identity as an argument", (_, tool) => {
  const { properties = {} } = schemasOf(tool).input as { properties?: object };
  expect(Object.keys(properties).filter((name) => /user|tenant|owner/i.test(name))).toEqual([]);
});

test("schemas are worked out once, and what JSON Schema cannot say is left open", () => {
  const tool = defineTool({
    name: "t",
    title: { en: "T", zh: "t" },
    description: "",
    effect: "read",
    input: z.object({ n: z.bigint() }),
    output: z.unknown(),
    confirm: () => true,
    execute: () => Promise.resolve(ok(null)),
  });
  expect(schemasOf(tool)).toBe(schemasOf(tool));
  expect(schemasOf(tool).input).toEqual({ type: "object", properties: { n: {} }, required: ["n"] });
  expect(describeTool(tool, "en").confirm).toBe("depends");
});
