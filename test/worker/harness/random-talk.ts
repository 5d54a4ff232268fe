/**
 * What people, the model, the backend and the platform may do to a conversation at random, over both ways in. The model
 * of it is small on purpose: what was sent under which key, and what came back.
 */
import * as fc from "fast-check";
import { expect } from "vitest";
import type { Event } from "../../../src/protocol/events.ts";
import type { Answer } from "../../support/answer-script.ts";
import type { Fault } from "../../support/backend-faults.ts";
import { backend } from "./fakes.ts";
import { newKey, send, startPath, unmarked, type Given } from "./keyed.ts";
import { crashAndComeBack, fireAlarm, loseAlarm } from "./life.ts";
import type { Talk } from "./talk.ts";

interface Sent {
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
  first: Given;
}

/** What the test knows of it without asking. */
export interface Known {
  readonly sent: Sent[];
  runs: number;
}

const TOOLS = ["transfer", "transfer_idempotent", "transfer_probeable"] as const;
const FAULTS: readonly (Omit<Fault, "route" | "match"> | null)[] = [
  null,
  null,
  { mode: "commit_then_drop", times: 1 },
  { mode: "500", times: 1 },
  { mode: "wrong_shape", times: 1 },
  { mode: "delay", commitAt: 50, answerAt: 150 },
  { mode: "403", times: 1 },
];

type Op = (talk: Talk, known: Known) => Promise<void>;
interface Step {
  readonly name: string;
  readonly op: Op;
}

const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];

/** Nothing that anybody may send is answered with a fault of the service. */
function expectAnswered(status: number): void {
  expect([200, 202, 204, 403, 404, 409, 422, 429]).toContain(status);
}

function expectRepeated(first: Given, answer: Given): void {
  expect(answer).toEqual({ ...unmarked(first), replayed: true });
}

async function post({ person }: Talk, known: Known, path: string, body: unknown): Promise<void> {
  const key = newKey();
  const first = await send(person, path, key, body);
  expectAnswered(first.status);
  known.sent.push({ path, key, body, first });
}

async function overSocket({ watcher }: Talk, frame: Record<string, unknown>): Promise<void> {
  const answer = await watcher.command(frame);
  expectAnswered(answer.type === "problem" ? answer.problem.status : 202);
}

const resume = (talk: Talk, known: Known, socket: boolean, runId: string, body: object) =>
  socket ? overSocket(talk, { type: "resume", runId, ...body }) : post(talk, known, `/v1/runs/${runId}/resume`, body);

async function script(talk: Talk, kind: number): Promise<void> {
  const recipient_id = `r-${crypto.randomUUID()}`;
  const name = TOOLS[kind % TOOLS.length] ?? "transfer";
  const fault = FAULTS[kind % FAULTS.length];
  if (fault) await backend.fault({ ...fault, route: "POST /transfer", match: { recipient_id } });
  const transfer = { name, arguments: { recipient_id, amount_cents: 1 + kind } };
  const second = { name, arguments: { recipient_id: `r-${crypto.randomUUID()}`, amount_cents: 1 } };
  const lookup = { name: "lookup_order", arguments: { order_id: "A-1" } };
  const answers: readonly Answer[][] = [
    [{ text: "Yes, of course." }],
    [{ toolCalls: [transfer] }],
    [{ toolCalls: [transfer] }],
    [{ toolCalls: [transfer, second] }],
    [{ toolCalls: [lookup, transfer] }],
    [{ toolCalls: [lookup] }, { toolCalls: [transfer] }],
    [{ text: "one word after the other, slowly", delayMs: 200 }],
    [{ hang: true }],
    [{ status: 500 }],
    [{ text: "cut in the middle", destroyAfterWrites: 3 }],
    [{ toolCalls: [{ name: "book_note", arguments: { text: recipient_id } }] }],
  ];
  await talk.script(...(answers[kind % answers.length] ?? []));
}

/** The run that is active, or the one before it. */
const runAt = (talk: Talk, known: Known, back: number): string => `${talk.id}.r${Math.max(1, known.runs - back)}`;

/** Until nothing moves by itself any more: a person is waited for, or nobody. */
async function atRest(talk: Talk): Promise<void> {
  await talk.watcher.until("rest", () => isAtRest(talk.events));
}

function isAtRest(events: readonly Event[]): boolean {
  const open = new Set<string>();
  for (const { type, runId } of events) {
    if (runId === undefined) continue;
    if (type === "run.started" || type === "run.resumed") open.add(runId);
    if (type === "run.interrupted" || type === "run.completed" || type === "run.failed" || type === "run.cancelled") {
      open.delete(runId);
    }
  }
  return open.size === 0;
}

const anyNumber = fc.nat({ max: 10_000 });
const step = <T extends unknown[]>(
  name: string,
  arbitraries: { [K in keyof T]: fc.Arbitrary<T[K]> },
  op: (talk: Talk, known: Known, ...given: T) => Promise<void>,
): fc.Arbitrary<Step> =>
  fc.tuple<T>(...arbitraries).map((given) => ({
    name: `${name}(${given.join()})`,
    op: (talk, known) => op(talk, known, ...given),
  }));

const start = step<[number, boolean, "enqueue" | "reject" | "replace"]>(
  "start",
  [anyNumber, fc.boolean(), fc.constantFrom("enqueue", "enqueue", "reject", "replace")],
  async (talk, known, kind, socket, whenBusy) => {
    await script(talk, kind);
    const body = { input: { text: `say ${kind}` }, whenBusy };
    if (socket) await overSocket(talk, { type: "start_run", idempotencyKey: newKey(), ...body });
    else await post(talk, known, startPath(talk), body);
    known.runs = (await talk.person.client.runs(talk.id)).data.length;
  },
);

const decide = step<[boolean, "approve" | "approve" | "reject" | "edit", number]>(
  "decide",
  [fc.boolean(), fc.constantFrom("approve", "approve", "reject", "edit"), anyNumber],
  async (talk, known, socket, decision, at) => {
    if (at % 3 > 0) await atRest(talk);
    const { activeRun, pending } = await talk.person.client.conversation(talk.id);
    const call = pick(pending, at);
    if (!activeRun || !call) return;
    const { id: toolCallId, argsDigest } = call;
    const args = { recipient_id: `r-${crypto.randomUUID()}`, amount_cents: 7 };
    const decisions = [{ toolCallId, argsDigest, decision, ...(decision === "edit" ? { args } : {}) }];
    await resume(talk, known, socket, activeRun.id, { decisions });
  },
);

const resolve = step<[boolean, "happened" | "did_not_happen" | "give_up", number]>(
  "resolve",
  [fc.boolean(), fc.constantFrom("happened", "did_not_happen", "give_up"), fc.nat({ max: 3 })],
  async (talk, known, socket, outcome, back) => {
    await atRest(talk);
    const run = await talk.person.client.run(runAt(talk, known, back));
    const call = run.pending.find(({ state }) => state === "unknown");
    if (!call) return;
    const digest = outcome === "did_not_happen" ? { argsDigest: call.argsDigest } : {};
    const resolutions = [{ toolCallId: call.id, outcome, ...digest }];
    await resume(talk, known, socket, run.id, { resolutions });
  },
);

const cancel = step<[boolean, number]>(
  "cancel",
  [fc.boolean(), fc.nat({ max: 3 })],
  async (talk, known, socket, back) => {
    const runId = runAt(talk, known, back);
    if (socket) await overSocket(talk, { type: "cancel_run", runId });
    else await post(talk, known, `/v1/runs/${runId}/cancel`, {});
  },
);

const queued = step<[boolean, number]>(
  "queued",
  [fc.boolean(), fc.nat({ max: 2 })],
  async (talk, known, edit, back) => {
    const path = `/v1/runs/${runAt(talk, known, back)}`;
    const { status } = edit
      ? await talk.person.ask("PATCH", path, { body: { input: { text: "in other words" } } })
      : await talk.person.ask("DELETE", path);
    expectAnswered(status);
  },
);

const retry = step<[number]>("retry", [fc.nat({ max: 1 })], async (talk, known, back) => {
  await post(talk, known, `/v1/runs/${runAt(talk, known, back)}/retry`, {});
  known.runs = (await talk.person.client.runs(talk.id)).data.length;
});

/** What was answered once is answered the same again; what was refused may be anything by now. */
const again = step<[number]>("again", [anyNumber], async (talk, known, at) => {
  const sent = pick(known.sent, at);
  if (!sent) return;
  const answer = await send(talk.person, sent.path, sent.key, sent.body);
  expectAnswered(answer.status);
  if (sent.first.status < 400) expectRepeated(sent.first, answer);
  else sent.first = answer;
  known.runs = (await talk.person.client.runs(talk.id)).data.length;
});

const platform = fc.oneof(
  step("evict", [], (talk) => talk.evict().catch(() => undefined)),
  step("crash", [], (talk) => crashAndComeBack(talk)),
  step("crash", [], (talk) => crashAndComeBack(talk)),
  step("lose alarm", [], (talk) => loseAlarm(talk)),
  step("alarm", [], async (talk) => void (await fireAlarm(talk))),
  step("reconnect", [], async ({ watcher }) => {
    watcher.cut();
    await watcher.connect();
  }),
);

const rest = step("rest", [], (talk) => atRest(talk));

const people = fc.oneof(
  { arbitrary: start, weight: 4 },
  { arbitrary: decide, weight: 4 },
  { arbitrary: resolve, weight: 2 },
  { arbitrary: cancel, weight: 2 },
  { arbitrary: queued, weight: 1 },
  { arbitrary: retry, weight: 1 },
  { arbitrary: again, weight: 2 },
  { arbitrary: rest, weight: 1 },
);
const atOnce = fc.tuple(people, people).map(([one, two]): Step => ({
  name: `at once(${one.name}, ${two.name})`,
  op: async (talk, known) => void (await Promise.all([one.op(talk, known), two.op(talk, known)])),
}));

class Command implements fc.AsyncCommand<Known, Talk> {
  readonly #step: Step;
  constructor(given: Step) {
    this.#step = given;
  }
  check(): boolean {
    return true;
  }
  run(known: Known, talk: Talk): Promise<void> {
    return this.#step.op(talk, known);
  }
  toString(): string {
    return this.#step.name;
  }
}

/** What a story begins with: without a run there is little to be done. */
export const beginning = start;

export const commands = fc.commands(
  [start, decide, decide, people, people, platform, atOnce].map((steps) => steps.map((one) => new Command(one))),
  { maxCommands: 20, size: "max" },
);
