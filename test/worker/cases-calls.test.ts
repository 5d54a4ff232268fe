/** Cases S01 to S08, S11, S25, S26: calls in the dialects that servers speak, and calls that must not be made. */
import { describe, expect, test } from "vitest";
import { agree } from "./harness/agreement.ts";
import { executed, resultsOf, streamOf, toldCalls, type Call } from "./harness/calls.ts";
import { backend } from "./harness/fakes.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const lookup = (order_id: string): Call => ({ tool: "lookup_order", args: { order_id } });
const A17 = lookup("A-17");
const B22 = lookup("B-22");
const sent = (name: string, args: unknown) => ({ toolCalls: [{ name, arguments: args }] });

describe("the model's calls are made as it meant them, each once, and answered in call order", () => {
  test.concurrent.for([
    ["without index, in fragments", "S01a", [A17]],
    ["without index, two of them", "S01b", [A17, B22]],
    ["two with one id", "S02a", [A17, B22]],
    ["two without ids", "S02b", [A17, B22]],
    ["with id, type and name in every fragment", "S03", [A17]],
    ["whose name comes after the arguments, and is empty later", "S04", [A17]],
    ["in interleaved fragments", "S05a", [A17, B22]],
    ["with one index twice in a chunk", "S05b", [A17]],
    ["with an empty string as arguments", "S06", [{ tool: "ping", args: {} }]],
    ["although the answer says stop", "S11", [A17]],
  ] as const)("%s", async ([, fixture, calls]) => {
    const talk = await Talk.open({ answers: [{ fixture }, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "completed", steps: 2 });
    expect(executed(talk, run)).toEqual(calls);
    expect(resultsOf(talk, run).map(({ success }) => success)).toEqual(calls.map(() => true));
    const requests = await talk.requests();
    expect(requests).toHaveLength(2);
    expect(toldCalls(requests[1])).toMatchObject(calls.map((call) => ({ ...call, result: { success: true } })));
    const seen = (await backend.requests(talk.person.userId)).map(({ body }) => body);
    const sentOut = calls.filter(({ tool }) => tool !== "ping").map(({ args }) => args);
    expect(seen.toSorted(byText)).toEqual(sentOut.toSorted(byText));
    await agree(talk);
  });

  const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

  test.concurrent("the provider's own id is kept beside ours, and no call is ever without a name", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S03" }, COMMON_TEXT, { fixture: "S04" }, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(talk.of("tool_call.proposed", run)).toMatchObject([{ data: { providerId: "call_r1" } }]);
    await talk.play();
    const named = talk.events.flatMap(({ data }) => ("tool" in data ? [data.tool] : []));
    expect(new Set(named)).toEqual(new Set(["lookup_order"]));
    await agree(talk);
  });

  test.concurrent("the text before a call is kept", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S11" }, COMMON_TEXT] });
    await talk.play();
    const { data } = await talk.person.client.messages(talk.id);
    expect(data.map(({ parts }) => parts)).toMatchObject([
      [{ text: "go on" }],
      [{ text: "Let me check. " }],
      [{ text: "Hello world" }],
    ]);
    await agree(talk);
  });

  test.concurrent("the arguments of two interleaved transfers stay apart", async () => {
    const part = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
    const head = (index: number) => ({
      tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name: "transfer", arguments: "" } }],
    });
    const raw = streamOf([
      head(0),
      head(1),
      part(0, '{"recipient_id":"r-1",'),
      part(1, '{"recipient_id":"r-2","amount'),
      part(0, '"amount_cents":'),
      part(1, '_cents":700}'),
      part(0, "500}"),
    ]);
    const talk = await Talk.open({ answers: [{ raw }] });
    const { run, calls } = await talk.ask();
    expect(calls.map(({ args }) => args)).toEqual([
      { recipient_id: "r-1", amount_cents: 500 },
      { recipient_id: "r-2", amount_cents: 700 },
    ]);
    await talk.decide(run, calls[0], "reject");
    await talk.decide(run, calls[1], "reject");
    await talk.ended(run);
    expect(await talk.bookings()).toEqual([]);
    await agree(talk);
  });
});

describe("arguments that are not what the tool takes are told to the model, and nothing is done", () => {
  test.concurrent.for([
    ["empty, where some are required", sent("transfer", "")],
    ["encoded twice", sent("transfer", JSON.stringify('{"recipient_id":"r-1","amount_cents":500}'))],
    ["encoded twice, of a read", { fixture: "S07" }],
    ["cut in the middle, under a label that says they are whole", { fixture: "S08" }],
    ["a list", sent("transfer", "[]")],
    ["an amount that is text", sent("transfer", { recipient_id: "r-1", amount_cents: "500" })],
    ["an amount beyond exact numbers", sent("transfer", '{"recipient_id":"r-1","amount_cents":9007199254740993}')],
    ["a member twice", sent("transfer", '{"recipient_id":"r-1","amount_cents":1,"amount_cents":500}')],
  ] as const)("%s", async ([, answer]) => {
    const talk = await Talk.open({ answers: [answer, COMMON_TEXT] });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(resultsOf(talk, run)).toMatchObject([{ success: false, error: { code: "invalid_arguments" } }]);
    expect(talk.of("confirmation.requested")).toEqual([]);
    expect(executed(talk, run)).toEqual([]);
    const requests = await talk.requests();
    expect(requests).toHaveLength(2);
    expect(toldCalls(requests[1])).toMatchObject([
      { result: { success: false, error: { code: "invalid_arguments" } } },
    ]);
    expect(await backend.requests(talk.person.userId)).toEqual([]);
    await agree(talk);
  });

  test.concurrent("the beginning of a cut number is nowhere an amount", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S08" }, COMMON_TEXT] });
    await talk.play();
    expect(JSON.stringify(talk.events)).not.toMatch(/amount_cents\\*":\s*12/);
    expect(JSON.stringify(await talk.requests())).not.toMatch(/amount_cents\\*":\s*12/);
    await agree(talk);
  });
});

describe("names that every object has are names of no tool", () => {
  test.concurrent("they are refused, the model is told, and the run goes on", async () => {
    const answers = [{ fixture: "S25" }, sent("delete_all", { really: true }), COMMON_TEXT];
    const talk = await Talk.open({ answers, limits: { maxToolErrors: 10 } });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(resultsOf(talk, run)).toMatchObject(
      ["constructor", "__proto__", "toString", "delete_all"].map((tool) => ({
        tool,
        success: false,
        error: { code: "unknown_tool" },
      })),
    );
    expect(executed(talk, run)).toEqual([]);
    expect(talk.of("confirmation.requested")).toEqual([]);
    expect(await talk.requests()).toHaveLength(3);
    await agree(talk);
  });

  test.concurrent("they count as errors: the third opens the circuit", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "S25" }] });
    const { run } = await talk.play();
    expect(run).toMatchObject({ status: "failed", stop: { code: "tool_circuit_open" } });
    expect(talk.of("limit.tripped", run)).toMatchObject([{ data: { limit: "maxToolErrors", figure: 3, bound: 3 } }]);
    expect(await talk.requests()).toHaveLength(1);
    await agree(talk);
  });
});

describe("who acts is who signed in", () => {
  test.concurrent("a user in the arguments is dropped; the backend hears of the caller alone", async () => {
    const steered = lookup("A-17: now use user_id user-b");
    const answers = [sent("lookup_order", steered.args), { fixture: "S26" }, COMMON_TEXT];
    const talk = await Talk.open({ answers });
    const { run } = await talk.play();
    expect(run.status).toBe("completed");
    expect(executed(talk, run)).toEqual([steered, A17]);
    const { userId } = talk.person;
    const requests = await backend.requests(userId);
    expect(requests.map(({ body }) => body)).toEqual([steered.args, A17.args]);
    expect(resultsOf(talk, run).map(({ data }) => data)).toMatchObject([{ owner: userId }, { owner: userId }]);
    const third = (await talk.requests())[2];
    expect(toldCalls(third)).toMatchObject([{ result: { success: true, data: { owner: userId } } }]);
    await agree(talk);
  });

  test.concurrent("a user in the body, the query or a header changes nothing", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_lookup" }] });
    const path = `/v1/conversations/${talk.id}/runs?user_id=user-b`;
    const headers = { "idempotency-key": "k", "x-user-id": "user-b", "x-holdpoint-context": '{"userId":"user-b"}' };
    const refused = await talk.person.call("POST", path, {
      headers,
      body: { input: { text: "hi" }, user_id: "user-b" },
    });
    expect(refused.status).toBe(422);
    await refused.text();
    const accepted = await talk.person.call("POST", path, { headers, body: { input: { text: "hi" } } });
    expect(accepted.status).toBe(202);
    const { id } = await accepted.json<{ id: string }>();
    await talk.watcher.until("its end", () => talk.watcher.event("run.completed", id));
    expect(await backend.requests("user-b")).toEqual([]);
    expect(await backend.requests(talk.person.userId)).toHaveLength(1);
    await agree(talk);
  });
});
