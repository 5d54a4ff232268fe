/** What a body may look like and still be one. */
import { describe, expect, it } from "vitest";
import { hello, json, RUNS } from "./support/bad-requests.ts";
import { recordingActor, RUN, testEdge } from "./support/edge.ts";

describe("a good body", () => {
  it.each([
    ["plain", {}],
    ["with its charset", { "content-type": "application/json; charset=UTF-8" }],
    ["with its charset in quotes", { "content-type": 'application/json;charset="utf-8"' }],
    ["in capitals", { "content-type": "Application/JSON" }],
    ["with an identity encoding", { "content-encoding": "identity" }],
  ])("is taken %s", async (_, headers) => {
    const { actor } = recordingActor();
    expect((await testEdge(actor).call("POST", RUNS, json(JSON.stringify(hello), headers))).status).toBe(202);
  });

  it("may begin with a byte order mark, and may be in any language", async () => {
    const { actor, commands } = recordingActor();
    const body = `\ufeff${JSON.stringify({ input: { text: "重启服务 🚀" } })}`;
    expect((await testEdge(actor).call("POST", RUNS, json(body))).status).toBe(202);
    expect(commands[0]?.request.command.body).toEqual({ input: { text: "重启服务 🚀" } });
  });

  it("may be absent where everything in it may be", async () => {
    const { actor, commands } = recordingActor();
    expect((await testEdge(actor).call("POST", `/v1/runs/${RUN}/cancel`)).status).toBe(202);
    expect(commands[0]?.request.command).toEqual({ type: "cancel_run", runId: RUN, body: {} });
  });

  it("comes with a length of its own in chunks", async () => {
    const { actor } = recordingActor();
    const parts = ['{"input":', '{"text":"\u4f60', '\u597d"}}'];
    const body = new ReadableStream({
      start: (controller) => {
        for (const part of parts) for (const byte of Buffer.from(part)) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    expect((await testEdge(actor).call("POST", RUNS, json(body))).status).toBe(202);
  });
});
