/** Case S42: a tool, or its policy, that is another one by the time of the yes. The yes was to the old one. */
import * as z from "zod";
import { expect, test } from "vitest";
import { ConversationActor } from "../../src/actor/actor.ts";
import type { Journal } from "../../src/actor/ports.ts";
import { Agents } from "../../src/effects/agent-port.ts";
import { sha256 } from "../../src/effects/digests.ts";
import type { Command } from "../../src/protocol/commands.ts";
import type { Event } from "../../src/protocol/events.ts";
import { NO_USAGE } from "../../src/run/state.ts";
import { isBusy } from "../../src/run/status.ts";
import { defineTool, type ToolDefinition } from "../../src/tools/define-tool.ts";
import { ok } from "../../src/tools/outcome.ts";
import { CONVERSATION, settle, user, VirtualClock } from "../actor/world.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { house } from "./tools/house.ts";

const amountUpTo = (most: number) => z.object({ amount: z.int().max(most) });
type Definition = ToolDefinition<ReturnType<typeof amountUpTo>, z.ZodType, unknown>;
const WANTED = { name: "transfer", arguments: '{"amount":500}', providerId: null };

/** The conversation's actor in a deployment whose tool is this one; null: in one without it. */
async function deploy(journal: Journal, change: Partial<Definition> | null) {
  const sent: unknown[] = [];
  const events: Event[] = [];
  const clock = new VirtualClock();
  const transfer = defineTool({
    name: "transfer",
    title: { en: "Transfer", zh: "转账" },
    description: "Transfers money.",
    input: amountUpTo(1_000),
    output: z.unknown(),
    scope: "acts",
    authorize: () => ({ ok: true }),
    execute: async (args) => {
      sent.push(args);
      return ok({});
    },
    ...change,
  } as Definition);
  const { catalogue, preparation, execution, settings } = await house(change ? [transfer] : []);
  const actor = new ConversationActor({
    clock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    journal,
    publisher: {
      events: (encoded) => void events.push(...encoded.map(({ event }) => event)),
      delta: () => undefined,
      close: () => undefined,
    },
    model: {
      ask: async (effect, io) => {
        const first = effect.run.callCount === 0 && effect.run.n === 1;
        const result = {
          kind: "answered",
          verdict: first ? "plan" : "final",
          text: { text: first ? "" : "Done." },
          finishReason: "stop",
          calls: first ? await preparation.calls(effect, io, [WANTED]) : [],
          usage: NO_USAGE,
          request: { digest: "q".repeat(43), model: "scripted", parameters: {} },
        } as const;
        return { result, payloads: [] };
      },
    },
    tools: execution,
    agents: new Agents(catalogue, preparation, settings),
    registry: { claim: async () => true, release: async () => undefined },
    projector: { drain: async () => null },
    transcript: () => ({ append: () => undefined, messages: () => "", leavesOut: () => 0 }),
    generation: () => "abcd1234",
    sha256,
    settings: { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000 },
  });
  const send = async (command: Command) => {
    const context = user("alice", { scopes: [...user("alice").scopes, "acts"] });
    const answer = await actor.command(context, { conversationId: CONVERSATION, command });
    const busy = () => actor.state.active !== null && isBusy(actor.state, actor.state.active);
    while (busy()) {
      await clock.advance(1);
      await settle();
    }
    return answer.ok ? null : answer.rejection.code;
  };
  return { actor, events, sent, send };
}

async function proposed(journal: Journal) {
  const { actor, send } = await deploy(journal, {});
  await send({ type: "create_conversation", body: { agent: "test" } });
  await send({ type: "start_run", body: { input: { text: "pay" } } });
  const [call] = actor.state.active?.calls ?? [];
  if (call?.state !== "awaiting_confirmation") throw new Error(`nothing waits: ${call?.state}`);
  return call;
}

const approval = ({ id: toolCallId, argsDigest }: { id: string; argsDigest: string }): Command => ({
  type: "resume",
  runId: `${CONVERSATION}.r1`,
  body: { decisions: [{ toolCallId, argsDigest, decision: "approve" }] },
});

test("a yes to the tool as it was shown acts once", async () => {
  const journal = nodeJournal();
  const call = await proposed(journal);
  const { send, sent } = await deploy(journal, {});
  expect(await send(approval(call))).toBeNull();
  expect(sent).toEqual([{ amount: 500 }]);
});

test.each<[string, Partial<Definition> | null]>([
  ["takes less than was proposed", { input: amountUpTo(400) }],
  ["needs two people now", { quorum: 2 }],
  ["may not be approved by who asked now", { selfApproval: false }],
  ["needs another scope now", { scope: "acts:more" }],
  ["is of another version", { version: 2 }],
  ["is there no more", null],
])("a yes to a tool that %s is stale: nothing is done, the model is told, the next run works", async (_, change) => {
  const journal = nodeJournal();
  const call = await proposed(journal);
  const { actor, events, sent, send } = await deploy(journal, change);
  expect(await send(approval(call))).toBe("confirmation_stale");
  expect(sent).toEqual([]);
  expect(events.map(({ type }) => type)).toEqual([
    "confirmation.expired",
    "run.resumed",
    "step.started",
    "message.completed",
    "step.finished",
    "run.completed",
  ]);
  expect(events[0]?.data).toMatchObject({ reason: "stale", payload: { success: false, error: { code: "expired" } } });
  expect(await send({ type: "start_run", body: { input: { text: "and now" } } })).toBeNull();
  expect(actor.state.latest).toMatchObject({ n: 2, stop: { code: "final_answer" } });
  expect(sent).toEqual([]);
});
