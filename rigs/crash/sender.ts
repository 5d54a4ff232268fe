/**
 * How a person gets a command through: by REST or by socket, and after an unknown outcome again with the same key, until
 * there is an answer. What was asked and told is written down (**H**).
 */
import type { Asked, Outcome } from "../../sim/observation.ts";
import type { Random } from "../../sim/random.ts";
import type { Watch } from "../../src/client/watch.ts";
import type { Command } from "../../src/protocol/commands.ts";
import type { Problem } from "../../src/protocol/problems.ts";
import { nowMs, pause } from "../common/figures.ts";
import { contextOf, type Person } from "../common/people.ts";
import type { Trigger } from "./seen.ts";

/** Longer than any honest answer takes here; then the outcome is unknown. */
const PATIENCE_MS = 10_000;
const TRIES = 200;
const AGAIN: readonly string[] = ["overloaded", "idempotency_in_progress", "rate_limited", "too_many_sockets"];

export interface SenderDeps {
  readonly baseUrl: string;
  readonly random: Random;
  readonly asked: Asked[];
  readonly up: () => Promise<void>;
  readonly hit: (trigger: Trigger) => Promise<void>;
  /** The socket of that person, where there is one. */
  readonly socketOf: (user: string) => Watch | undefined;
}

export class Sender {
  readonly #deps: SenderDeps;
  #serial = 0;
  /** No reply is doubled any more, and nothing is sent again for the sake of it. */
  calm = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** @returns the answer; null: there was none, however often it was asked */
  async send(person: Person, conversationId: string, command: Command, keyed = true): Promise<Outcome | null> {
    const { random } = this.#deps;
    const asked: Asked = {
      id: `c${++this.#serial}`,
      user: person.userId,
      command,
      key: keyed ? crypto.randomUUID() : null,
      context: contextOf(person),
      invokedAt: nowMs(),
      sent: 0,
      told: [],
      answeredAt: null,
    };
    this.#deps.asked.push(asked);
    const again = () => this.#try(person, conversationId, asked);
    const twin = keyed && !this.calm && random.chance(0.1) ? again() : null;
    let outcome: Outcome | null = null;
    for (let tries = 0; tries < TRIES && outcome === null; tries++) {
      await this.#deps.up();
      const told = await again();
      if (isAnswer(told)) outcome = told;
      else await pause(random.next() * 30);
    }
    await twin;
    if (outcome?.kind === "ok" && keyed && !this.calm && random.chance(0.1)) {
      // Much later it must still be the same answer; most often another process gives it.
      void this.#later(again);
    }
    return outcome;
  }

  async #later(again: () => Promise<Outcome>): Promise<void> {
    await pause(this.#deps.random.between(100, 2_000));
    await this.#deps.up();
    if (!this.calm) await again();
  }

  async #try(person: Person, conversationId: string, asked: Asked): Promise<Outcome> {
    asked.sent += 1;
    const outcome = await this.#ask(person, conversationId, asked).catch((error: unknown): Outcome => ({
      kind: "broke",
      error: String(error),
    }));
    asked.told.push({ at: nowMs(), head: 0, outcome });
    if (isAnswer(outcome)) asked.answeredAt ??= nowMs();
    const trigger = outcome.kind === "ok" ? TRIGGER_OF[asked.command.type] : undefined;
    if (trigger !== undefined) await this.#deps.hit(trigger);
    return outcome;
  }

  #ask(person: Person, conversationId: string, asked: Asked): Promise<Outcome> {
    const { random, socketOf } = this.#deps;
    const socket = FRAMES.includes(asked.command.type) ? socketOf(person.userId) : undefined;
    const way = socket && random.chance(0.4) ? bySocket(socket, asked) : this.#byRest(person, conversationId, asked);
    return Promise.race([way, timeout()]);
  }

  async #byRest(person: Person, conversationId: string, { command, key }: Asked): Promise<Outcome> {
    const { method, path } = routeOf(command, conversationId);
    const response = await fetch(this.#deps.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${person.token}`,
        "content-type": "application/json",
        ...(key === null ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify(command.body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const body: unknown = JSON.parse(await response.text());
    if (!response.ok) return refusal(body as Problem);
    const replayed = response.headers.get("idempotency-replayed") === "true";
    return { kind: "ok", status: response.status, body: JSON.stringify(body), replayed };
  }
}

async function bySocket(socket: Watch, { command, key }: Asked): Promise<Outcome> {
  const target = "runId" in command ? { runId: command.runId } : {};
  const frame = await socket.command({ type: command.type, idempotencyKey: key, ...target, ...command.body });
  if (frame.type === "problem") return refusal(frame.problem);
  if (frame.type !== "ack") throw new TypeError(`${frame.type} answers nothing`);
  return { kind: "ok", status: 0, body: JSON.stringify(frame.result), replayed: frame.replayed === true };
}

/** 5xx: nobody knows. */
function refusal(problem: Problem): Outcome {
  const { code, detail, status } = problem;
  if (status >= 500 && code !== "overloaded") return { kind: "broke", error: `${code}: ${detail}` };
  return { kind: "refused", rejection: { code, detail } };
}

const isAnswer = (outcome: Outcome): boolean =>
  outcome.kind === "ok" || (outcome.kind === "refused" && !AGAIN.includes(outcome.rejection.code));

const timeout = async (): Promise<Outcome> => {
  await pause(PATIENCE_MS);
  return { kind: "broke", error: "no answer in time" };
};

const FRAMES: readonly string[] = ["start_run", "resume", "cancel_run"];
const TRIGGER_OF: Readonly<Partial<Record<Command["type"], Trigger>>> = {
  start_run: "ack_start",
  resume: "ack_confirm",
  cancel_run: "ack_cancel",
};

function routeOf(command: Command, conversationId: string): { readonly method: string; readonly path: string } {
  switch (command.type) {
    case "create_conversation":
      return { method: "POST", path: "/v1/conversations" };
    case "put_participant":
      return { method: "PUT", path: `/v1/conversations/${conversationId}/participants/${command.userId}` };
    case "start_run":
      return { method: "POST", path: `/v1/conversations/${conversationId}/runs` };
    case "resume":
      return { method: "POST", path: `/v1/runs/${command.runId}/resume` };
    case "cancel_run":
      return { method: "POST", path: `/v1/runs/${command.runId}/cancel` };
    case "retry_run":
      return { method: "POST", path: `/v1/runs/${command.runId}/retry` };
    default:
      throw new TypeError(`the rig does not send ${command.type}`);
  }
}
