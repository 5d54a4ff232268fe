import { describe, expect, test } from "vitest";
import { EVENT_DATA, EventType, type Event } from "../../src/protocol/events.ts";
import {
  redactConversation,
  redactEvent,
  redactRun,
  seenEvent,
  seesDetails,
  sightOf,
  VIEWER_KEEPS,
} from "../../src/protocol/redaction.ts";
import { conversationView } from "../../src/run/views.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { call, RUN, Talk } from "../storage/talk.ts";

const CANARY = "canary-7f3a";
const secret = () => call({ iban: CANARY, nested: { deep: [CANARY] } });

function gated(): Talk {
  const talk = new Talk(nodeJournal());
  talk.create();
  talk.say("pay them");
  talk.answer({ text: "I would like to pay." }, [
    {
      ...secret(),
      modelArgs: { iban: CANARY },
      expect: CANARY,
      preview: { rows: [{ label: "to", value: CANARY }] },
      idempotencyKey: CANARY,
      fingerprint: CANARY,
      scope: CANARY,
      providerId: CANARY,
    },
  ]);
  return talk;
}

describe("a viewer", () => {
  test("gets every event, in order, without arguments, results, scopes or keys", () => {
    const talk = gated();
    const redacted = talk.committed.map(redactEvent);
    expect(redacted.map(({ seq, type, at, runId, by }) => ({ seq, type, at, runId, by }))).toEqual(
      talk.committed.map(({ seq, type, at, runId, by }) => ({ seq, type, at, runId, by })),
    );
    const text = JSON.stringify(redacted);
    expect(JSON.stringify(talk.committed)).toContain(CANARY);
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain("confirmations:decide");
    expect(text).not.toContain('"policy"');
    expect(text).toContain("pay them");
    expect(text).toContain("I would like to pay.");
  });

  test("still learns who asked, which tool waits, and how calls end", () => {
    const data = Object.fromEntries(gated().committed.map((event) => [event.type, redactEvent(event).data]));
    expect(data["run.queued"]).toMatchObject({ input: { text: "pay them" }, principal: { userId: "alice" } });
    expect(data["tool_call.proposed"]).toEqual({
      toolCallId: `${RUN}.t1`,
      step: 1,
      tool: "transfer",
      title: "Transfer",
      effect: "once",
    });
    expect(data["run.interrupted"]).toMatchObject({
      needsConfirmation: true,
      pending: [{ id: `${RUN}.t1`, tool: "transfer", state: "awaiting_confirmation" }],
    });
  });

  test("sees pending calls in snapshots and runs without what they would do", () => {
    const { state } = gated();
    const view = conversationView(state, "viewer");
    expect(JSON.stringify(view)).toContain(CANARY);
    const shown = redactConversation(view, "vera");
    expect(JSON.stringify(shown)).not.toContain(CANARY);
    expect(shown.pending).toMatchObject([{ id: `${RUN}.t1`, state: "awaiting_confirmation", args: null, allowed: [] }]);
    expect(shown.needsConfirmation).toBe(true);
    expect(view.activeRun && redactRun(view.activeRun).pending).toEqual(shown.pending);
  });
});

test("every member that stays is one of its event, and the rest is named by leaving it out", () => {
  for (const type of EventType.options) {
    const keeps = VIEWER_KEEPS[type];
    if (keeps === "whole") continue;
    expect(Object.keys(EVENT_DATA[type].shape)).toEqual(expect.arrayContaining(Object.keys(keeps)));
  }
});

test("a member that nobody listed is hidden", () => {
  const event = { seq: 1, v: 1, type: "step.finished", at: "", by: { kind: "system" }, data: { n: 1, later: CANARY } };
  expect(redactEvent(event as unknown as Event).data).toEqual({ n: 1 });
});

test("what the model's provider said is for those who operate the conversation, the stop itself for everybody", () => {
  const stop = { code: "model_quota", detail: "No credit.", retryable: false, provider: { status: 402, code: CANARY } };
  const data = { stop, usage: {}, sideEffects: [], needsConfirmation: false, steps: 1 };
  const event = { seq: 1, v: 1, type: "run.failed", at: "", by: { kind: "system" }, data };
  const { provider: _, ...told } = stop;
  expect(redactEvent(event as unknown as Event).data).toEqual({ ...data, stop: told });
  const run = { id: "r", pending: [], stop } as unknown as Parameters<typeof redactRun>[0];
  expect(redactRun(run).stop).toEqual(told);
});

test("details are for approvers and above, and for who started the run", () => {
  expect(seesDetails("approver", "bob", "alice")).toBe(true);
  expect(seesDetails("viewer", "bob", "alice")).toBe(false);
  expect(seesDetails("viewer", "alice", "alice")).toBe(true);
  expect(seesDetails("viewer", "bob", null)).toBe(false);
});

describe("an approver or an editor", () => {
  test("gets arguments and results, and neither keys nor what else the starter may do", () => {
    const talk = gated();
    const seen = talk.committed.map((event) => seenEvent(event, sightOf("approver", "bob", "alice")));
    const data = Object.fromEntries(seen.map((event) => [event.type, event.data])) as Record<string, object>;
    expect(data["tool_call.proposed"]).toMatchObject({
      args: { iban: CANARY },
      preview: { rows: [{ value: CANARY }] },
    });
    expect(data["tool_call.proposed"]).not.toHaveProperty("idempotencyKey");
    expect(data["run.queued"]).toMatchObject({ principal: { userId: "alice" }, policy: {} });
    expect(JSON.stringify(seen)).not.toContain("confirmations:decide");
    expect(JSON.stringify(seen)).not.toContain("idempotencyKey");
    const same = seen.filter((event, n) => event === talk.committed[n]);
    expect(same.length).toBe(seen.length - 2);
  });

  test("sees one's own runs whole, as the owner sees all of them", () => {
    const { committed } = gated();
    for (const sight of [sightOf("editor", "alice", "alice"), sightOf("owner", "carol", "alice")]) {
      expect(committed.map((event) => seenEvent(event, sight))).toEqual(committed);
    }
  });
});
