import { expect, test } from "vitest";
import { reject } from "../../src/protocol/problems.ts";
import { dispatch, type Dispatching } from "../../src/stream/dispatch.ts";
import { FakeSocket, watcher } from "./fake-socket.ts";

const RUN = "0123456789abcdefghjkmnpqrs.r1";
const to: Dispatching = {
  conversationId: "0123456789abcdefghjkmnpqrs",
  command: async () => ({ ok: false, rejection: reject("run_finished", "The run has finished.") }),
  failed: () => {},
};

test.each([
  ["zh-CN", "运行已结束", "请求体不是 JSON"],
  ["en", "The run has finished", "The body is not JSON"],
])("a refusal on a socket has its title in the language of its sign-in (%s)", async (locale, refused, malformed) => {
  const { principal } = watcher("alice");
  const socket = new FakeSocket("alice", { principal: { ...principal, scopes: ["conversations:write"], locale } });
  await dispatch(socket, JSON.stringify({ type: "cancel_run", id: "1", runId: RUN }), to);
  await dispatch(socket, "{", to);
  expect(socket.frames).toMatchObject([
    { type: "problem", id: "1", problem: { code: "run_finished", title: refused, detail: "The run has finished." } },
    { type: "problem", problem: { code: "malformed_json", title: malformed } },
  ]);
});

test("an acknowledgement is said before the events that led to it, and once", async () => {
  const { principal } = watcher("alice");
  const socket = new FakeSocket("alice", { principal: { ...principal, scopes: ["conversations:write"] } });
  const answer = { status: 202 as const, body: null, replayed: false };
  await dispatch(socket, JSON.stringify({ type: "cancel_run", id: "1", runId: RUN }), {
    ...to,
    command: async (_context, _request, acknowledge) => {
      acknowledge(answer);
      socket.send('{"type":"event"}');
      return { ok: true, value: answer };
    },
  });
  expect(socket.frames).toMatchObject([{ type: "ack", id: "1" }, { type: "event" }]);
});

test("what was acknowledged stands, whatever breaks afterwards", async () => {
  const { principal } = watcher("alice");
  const socket = new FakeSocket("alice", { principal: { ...principal, scopes: ["conversations:write"] } });
  const failures: unknown[] = [];
  await dispatch(socket, JSON.stringify({ type: "cancel_run", id: "1", runId: RUN }), {
    ...to,
    failed: (error) => failures.push(error),
    command: async (_context, _request, acknowledge) => {
      acknowledge({ body: null, replayed: false });
      throw new Error("after the commit");
    },
  });
  expect(socket.frames).toMatchObject([{ type: "ack", id: "1" }]);
  expect(failures).toHaveLength(1);
});

test("frames that cannot be read are counted; whoever goes on after being told to slow down is closed", async () => {
  const socket = new FakeSocket("alice");
  let wasted = 0;
  const counting: Dispatching = {
    ...to,
    wasted: () => (++wasted > 1 ? reject("rate_limited", "Slow down.") : null),
    overdrawn: () => wasted > 2,
  };
  for (let sent = 0; sent < 3; sent++) await dispatch(socket, "{", counting);
  expect(socket.frames.map(({ problem }) => (problem as { code: string }).code)).toEqual([
    "malformed_json",
    "rate_limited",
    "rate_limited",
  ]);
  expect(socket.closes).toEqual([{ code: 1013, reason: "too many frames" }]);
});
