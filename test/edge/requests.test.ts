/** Everything that a client can get wrong, with what it is told; nothing of it reaches an actor. */
import { describe, expect, it } from "vitest";
import { BAD_REQUESTS, hello, json, KEYED, RESUME, RUNS, start } from "./support/bad-requests.ts";
import { problemIn, recordingActor, RUN, testEdge } from "./support/edge.ts";

describe("a bad request", () => {
  for (const [name, method, path, init, code, pointer] of BAD_REQUESTS) {
    it(`with ${name} gets its problem`, async () => {
      const { actor, commands } = recordingActor();
      const test = testEdge(actor);
      const problem = await problemIn(await test.call(method, path, init));
      expect(problem.code).toBe(code);
      const pointers = problem.errors?.map((error) => error.pointer) ?? [];
      expect(pointers).toEqual(expect.arrayContaining(pointer === undefined ? [] : [pointer]));
      expect(commands).toEqual([]);
      expect(test.asked).toEqual([]);
      expect(test.log.filter(({ level }) => level === "error")).toEqual([]);
      expect(Object.prototype).not.toHaveProperty("a");
    });
  }

  it("of 10 MB is answered 413, whether its length was said or not, after it was sent", async () => {
    for (const length of [undefined, String(10 * 1024 * 1024), "5", "nonsense"]) {
      const { body, sent } = stream(10 * 1024 * 1024);
      const answer = await testEdge().call("POST", RUNS, json(body, length ? { "content-length": length } : {}));
      expect(await problemIn(answer)).toMatchObject({ code: "payload_too_large", status: 413 });
      // A client whose connection is cut while it writes never reads its answer.
      expect(sent.bytes).toBe(10 * 1024 * 1024);
    }
  });

  it("without an end is cut off", async () => {
    const { body, sent } = stream(Number.POSITIVE_INFINITY);
    expect((await testEdge().call("POST", RUNS, json(body))).status).toBe(413);
    expect(sent.cancelled).toBe(true);
    expect(sent.bytes).toBeLessThan(40 * 1024 * 1024);
  });

  it("names all its unknown members at once", async () => {
    const { errors } = await problemIn(await testEdge().call("POST", RUNS, start({ a: 1, b: 2 })));
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["/a", "/b"]);
  });

  it("does not get its own values back", async () => {
    const answer = await testEdge().call("POST", RUNS, start({ whenBusy: "canary-value" }));
    expect(await answer.text()).not.toContain("canary-value");
  });

  it("with a wrong method learns the right ones", async () => {
    const test = testEdge();
    expect((await test.call("PUT", RUNS)).headers.get("allow")).toBe("GET, POST, HEAD, OPTIONS");
    expect((await test.call("POST", "/healthz")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await test.call("HEAD", `/v1/runs/${RUN}/cancel`)).status).toBe(405);
    const options = await test.call("OPTIONS", RUNS);
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
  });

  it("is 401 before it is anything else, so that nothing is learned without a sign-in", async () => {
    const test = testEdge();
    for (const [path, init] of [
      [RUNS, json("{")],
      [`/v1/runs/1/cancel`, {}],
      [`${RUNS}?limit=0`, {}],
    ] as const) {
      const answer = await test.call("POST", path, { ...init, authorization: null });
      expect(await problemIn(answer)).toMatchObject({ code: "unauthenticated" });
    }
  });

  it("without the scope is 403 and names the scope", async () => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    const authorization = `Bearer ${await test.token({ userId: "a", scopes: ["conversations:read"] })}`;
    const answer = await test.call("POST", RUNS, { json: hello, headers: KEYED, authorization });
    expect(await problemIn(answer)).toMatchObject({ code: "scope_missing", status: 403 });
    const reader = `Bearer ${await test.token({ userId: "a", scopes: ["conversations:write"] })}`;
    expect((await test.call("GET", RUNS, { authorization: reader })).status).toBe(403);
    expect(commands).toEqual([]);
  });

  it("to go on beyond a limit needs what a new run needs, to decide does not", async () => {
    const { actor, commands } = recordingActor();
    const test = testEdge(actor);
    const authorization = `Bearer ${await test.token({ userId: "a", scopes: ["confirmations:decide"] })}`;
    const continuations = [{ limit: "maxSteps", decision: "continue" }];
    const decisions = [{ toolCallId: `${RUN}.t1`, argsDigest: "d".repeat(43), decision: "approve" }];
    expect((await test.call("POST", RESUME, { json: { decisions, continuations }, authorization })).status).toBe(403);
    expect((await test.call("POST", RESUME, { json: { decisions }, authorization })).status).toBe(202);
    expect(commands.map(({ request }) => request.command.type)).toEqual(["resume"]);
  });

  it("with unknown query parameters is no bad request", async () => {
    const { actor } = recordingActor();
    expect((await testEdge(actor).call("POST", `${RUNS}?utm_source=x`, start({}))).status).toBe(202);
  });
});

function stream(total: number) {
  const sent = { bytes: 0, cancelled: false };
  const body = new ReadableStream(
    {
      pull: (controller) => {
        const size = Math.min(64 * 1024, total - sent.bytes);
        sent.bytes += size;
        if (size > 0) controller.enqueue(new Uint8Array(size).fill(0x20));
        else controller.close();
      },
      cancel: () => {
        sent.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, sent };
}
