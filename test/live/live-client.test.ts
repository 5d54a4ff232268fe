/** The patience of `e2e:live`, without a model and without time. */
import { expect, test } from "vitest";
import { stopOf } from "../../src/protocol/stops.ts";
import { LiveClient } from "./live-client.ts";

interface Ended {
  readonly status: string;
  readonly stop?: object;
}
const WELL: Ended = { status: "completed", stop: stopOf("final_answer", "Done.") };
const busy = (retryAfterMs?: number): Ended => ({
  status: "failed",
  stop: { ...stopOf("model_overloaded", "Busy."), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
});
const refused: Ended = { status: "failed", stop: stopOf("model_unauthorized", "No.") };

/** @param ends how the runs end, one after the other; the last one again and again */
function world(...ends: readonly Ended[]) {
  const slept: number[] = [];
  const posts: { path: string; key: string | null }[] = [];
  let keys = 0;
  const client = new LiveClient({
    baseUrl: "http://service",
    token: "t",
    key: () => `key-${++keys}`,
    now: () => 0,
    sleep: async (ms) => void slept.push(ms),
    fetch: async (input, init) => {
      const path = new URL(String(input)).pathname;
      if (init?.method === "POST") posts.push({ path, key: new Headers(init.headers).get("idempotency-key") });
      const end = init?.method === "GET" ? ends[Math.min(posts.length, ends.length) - 1] : { status: "running" };
      return Response.json({ id: `r${posts.length}`, pending: [], ...end });
    },
  });
  return { client, slept, posts };
}

test("half a second before each POST, and a second between turns", async () => {
  const { client, slept } = world(WELL);
  await client.turn("c", "one");
  await client.turn("c", "two");
  expect(slept).toEqual([500, 1_000, 500]);
});

test("a failure that may pass is tried at most twice more, each later and under a key of its own", async () => {
  const { client, slept, posts } = world(busy());
  expect(await client.turn("c", "one")).toMatchObject({ status: "failed" });
  expect(slept).toEqual([500, 2_000, 500, 4_000, 500]);
  expect(posts).toEqual([
    { path: "/v1/conversations/c/runs", key: "key-1" },
    { path: "/v1/runs/r1/retry", key: "key-2" },
    { path: "/v1/runs/r2/retry", key: "key-3" },
  ]);
});

test("the provider's own wait is kept, and nobody waits for an hour", async () => {
  const soon = world(busy(9_000), WELL);
  expect(await soon.client.turn("c", "one")).toMatchObject({ status: "completed" });
  expect(soon.slept).toEqual([500, 9_000, 500]);
  const late = world(busy(3_600_000));
  expect(await late.client.turn("c", "one")).toMatchObject({ status: "failed" });
  expect(late.posts).toHaveLength(1);
});

test("what cannot pass is not tried again", async () => {
  const { client, posts } = world(refused);
  expect(await client.turn("c", "one")).toMatchObject({ stop: { code: "model_unauthorized" } });
  expect(posts).toHaveLength(1);
});
