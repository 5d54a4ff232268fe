/** What the weather at an object looks like from outside. */
import { describe, expect, it } from "vitest";
import { KEYED, hello, RUNS } from "./support/bad-requests.ts";
import { CONVERSATION, emptyActor, problemIn, RUN, testEdge } from "./support/edge.ts";
import type { Actor } from "../../src/edge/ports.ts";

const fault = (properties: object) => Object.assign(new Error("canary from inside"), properties);
const passing = { retryable: true };

/** Fails so often, then answers. */
function failing(times: number, properties: object) {
  const state = { calls: 0 };
  const attempt = () => {
    state.calls += 1;
    if (state.calls <= times) throw fault(properties);
  };
  const actor: Actor = {
    ...emptyActor,
    command: async () => {
      attempt();
      return { ok: true, value: { status: 202, body: null, replayed: false } };
    },
    run: async () => {
      attempt();
      return emptyActor.run({ ...anybody, requestId: "" }, RUN);
    },
  };
  return { actor, state };
}
const anybody = { tenantId: "", userId: "", roles: [], scopes: [], requestId: "", traceId: "", expiresAt: 0 };

describe("an object that fails", () => {
  it("with a bug is 500, with the cause in the log and nothing of it in the answer", async () => {
    const test = testEdge(failing(1, {}).actor);
    const answer = await test.call("GET", `/v1/runs/${RUN}`);
    const problem = await problemIn(answer);
    expect(problem).toMatchObject({ code: "internal", status: 500, retryable: true });
    expect(JSON.stringify(problem)).not.toContain("canary");
    const line = test.log.find(({ level }) => level === "error");
    expect(line).toMatchObject({ event: "actor_call_failed", fields: { requestId: problem.requestId, kind: "bug" } });
    expect(String(line?.error)).toContain("canary from inside");
  });

  it("of overload is 503, and is not asked again", async () => {
    const { actor, state } = failing(9, { overloaded: true, retryable: true });
    const answer = await testEdge(actor).call("GET", `/v1/runs/${RUN}`);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await problemIn(answer)).toMatchObject({ code: "overloaded", status: 503, retryable: true });
    expect(state.calls).toBe(1);
  });

  it.each([
    ["a read", "GET", `/v1/runs/${RUN}`, {}, 404],
    ["a keyed command", "POST", RUNS, { json: hello, headers: KEYED }, 202],
    ["a command that changes nothing the second time", "POST", `/v1/runs/${RUN}/cancel`, {}, 202],
    ["a restart", "GET", `/v1/runs/${RUN}`, {}, 404],
  ])("in passing is asked again, with a fresh stub: %s", async (name, method, path, init, status) => {
    const { actor, state } = failing(2, name === "a restart" ? { durableObjectReset: true } : passing);
    const test = testEdge(actor);
    expect((await test.call(method, path, init)).status).toBe(status);
    expect(state.calls).toBe(3);
    expect(test.asked).toHaveLength(3);
  });

  it("in passing is not asked again where that could act twice", async () => {
    const { actor, state } = failing(1, passing);
    const decisions = [{ toolCallId: `${RUN}.t1`, argsDigest: "d".repeat(43), decision: "approve" }];
    const answer = await testEdge(actor).call("POST", `/v1/runs/${RUN}/resume`, { json: { decisions } });
    expect(await problemIn(answer)).toMatchObject({ code: "overloaded", retryable: true });
    expect(state.calls).toBe(1);
  });

  it("for good is given up after three times", async () => {
    const { actor, state } = failing(9, passing);
    expect((await testEdge(actor).call("GET", `/v1/runs/${RUN}`)).status).toBe(503);
    expect(state.calls).toBe(3);
  });

  it("to answer in time is 503, and what it says later is dropped", async () => {
    let failLate: (error: Error) => void = () => undefined;
    const late = new Promise<never>((_, fail) => {
      failLate = fail;
    });
    const actor = { ...emptyActor, run: () => late };
    const env = { ENVIRONMENT: "development", DEV_SIGN_IN: "on", REQUEST_TIMEOUT_MS: "1" };
    const test = testEdge(actor, { env });
    expect(await problemIn(await test.call("GET", `/v1/runs/${RUN}`))).toMatchObject({ code: "overloaded" });
    failLate(new Error("too late"));
    expect(test.log.some(({ event }) => event === "actor_late")).toBe(true);
  });

  it("to be reached at all is a fault of ours, with a request id", async () => {
    const test = testEdge(emptyActor, {
      actor: async () => {
        throw new Error("no binding");
      },
    });
    const problem = await problemIn(await test.call("GET", `/v1/conversations/${CONVERSATION}`));
    expect(problem).toMatchObject({ code: "internal" });
    expect(problem.requestId).toBeTruthy();
  });
});

describe("a bug in the edge itself", () => {
  it("is a problem too, with its cause in the log", async () => {
    const test = testEdge(emptyActor, {
      agents: async () => {
        throw new Error("canary from the edge");
      },
    });
    const problem = await problemIn(await test.call("GET", "/v1/agents"));
    expect(problem).toMatchObject({ code: "internal", status: 500 });
    expect(JSON.stringify(problem)).not.toContain("canary");
    expect(String(test.log.find(({ event }) => event === "request_failed")?.error)).toContain("canary from the edge");
  });
});
