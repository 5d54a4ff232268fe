import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import { renderMessage } from "../../src/protocol/render-message.ts";

const message = (...parts: Message["parts"]): Message => ({
  id: "0123456789abcdefghjkmnpqrs.m1",
  role: "assistant",
  by: { kind: "agent", id: "lab" },
  parts,
  status: "complete",
  seq: 3,
  createdAt: "2026-01-01T00:00:00.000Z",
});

test("a notice gets its sentence in the reader's language, with the figures that were stored", () => {
  const stored = message(
    { type: "text", text: "so far" },
    { type: "notice", code: "token_limit", params: { bound: 900 } },
  );
  expect(renderMessage(stored, "zh").parts).toEqual([
    { type: "text", text: "so far" },
    { type: "notice", code: "token_limit", params: { bound: 900 }, text: "用量超出允许的令牌数（900），我已停止。" },
  ]);
  expect(renderMessage(stored, "en").parts[1]).toMatchObject({ text: expect.stringContaining("(900)") });
  expect(stored.parts[1]).not.toHaveProperty("text");
});

test("a message of people's words is left as it is", () => {
  const stored = message({ type: "text", text: "{bound}" });
  expect(renderMessage(stored, "zh")).toBe(stored);
});
