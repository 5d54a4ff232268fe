import { describe, expect, test } from "vitest";
import { isLocalName, localOnly } from "../../src/edge/local-only.ts";

const says = (text: string) => ({ fetch: async () => new Response(text) });
const ask = async (environment: "development" | "production", host: string) =>
  (await localOnly(says("served"), { environment }, says("refused")).fetch(new Request(`http://${host}/`))).text();

describe("a development configuration", () => {
  test.each(["localhost:8787", "127.0.0.1:8787", "[::1]:8787", "holdpoint.test", "192.168.1.4", "172.20.0.2"])(
    "serves %s",
    async (host) => expect(await ask("development", host)).toBe("served"),
  );

  test.each([
    "holdpoint.someone.workers.dev",
    "api.example.com",
    "127.0.0.1.evil.com",
    "localhost.evil.com",
    "172.32.0.1",
  ])("refuses %s: somebody has deployed it by mistake", async (host) =>
    expect(await ask("development", host)).toBe("refused"),
  );
});

test("a production configuration serves every name", async () => {
  expect(await ask("production", "api.example.com")).toBe("served");
  expect(isLocalName("api.example.com")).toBe(false);
});
