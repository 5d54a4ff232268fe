import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";

// The types declare it in every version; an older workerd answers undefined, and back-pressure would go unseen.
test("a WebSocket of this workerd counts its unsent bytes", () => {
  const [client, server] = Object.values(new WebSocketPair());
  expect(typeof client?.bufferedAmount).toBe("number");
  expect(typeof server?.bufferedAmount).toBe("number");
});

test("an unknown path answers a problem", async () => {
  const response = await exports.default.fetch("https://holdpoint.test/nowhere");
  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  await response.text();
});
