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
