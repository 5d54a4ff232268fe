/**
 * How a client gets a command through: by REST or by its socket, over a network that loses and doubles, again with the
 * same key until it has an answer. A command without a key that got no answer is not sent again.
 */
import type { Command } from "../src/protocol/commands.ts";
import type { RequestContext } from "../src/protocol/principal.ts";
import type { Problem } from "../src/protocol/problems.ts";
import type { CommandAnswer } from "../src/protocol/rpc.ts";
import { dispatch } from "../src/stream/dispatch.ts";
import type { Kernel } from "./kernel.ts";
import type { Life } from "./life.ts";
import type { SimObject } from "./object.ts";
import { line, type Asked, type Observation, type Outcome } from "./observation.ts";
import type { Random } from "./random.ts";
import type { SimSocket } from "./sockets.ts";

export interface SenderDeps {
  readonly kernel: Kernel;
  readonly object: SimObject;
  readonly observation: Observation;
  readonly conversationId: string;
  readonly random: Random;
  readonly delay: () => number;
  readonly lostAnswers: number;
  readonly doubled: number;
  readonly overSocket: number;
  readonly socketOf: (user: string) => SimSocket | undefined;
  readonly answered: (asked: Asked, outcome: Outcome) => void;
}

const PATIENCE_MS = 4_000;
const TRIES = 6;
/** Without it there is nothing to simulate. */
const TRIES_TO_CREATE = 60;
const FRAMES = ["start_run", "resume", "cancel_run"];

export class Sender {
  readonly #deps: SenderDeps;
  #count = 0;
  /** The network is good from now on. */
  calm = false;
  readonly #waiting = new Map<string, (outcome: Outcome) => void>();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  send(context: RequestContext, command: Command, key: string | null): Asked {
    const { observation, kernel } = this.#deps;
    const asked: Asked = {
      id: `c${++this.#count}`,
      user: context.userId,
      command,
      key,
      context,
      invokedAt: kernel.now,
      sent: 0,
      told: [],
      answeredAt: null,
    };
    observation.asked.push(asked);
    this.#try(asked);
    if (!this.calm && key !== null && this.#deps.random.chance(this.#deps.doubled)) this.#try(asked);
    return asked;
  }

  /** The same request once more, long after. */
  again(asked: Asked): void {
    this.#try(asked);
  }

  /** A frame that the client heard on its socket, if it answers a command. */
  heard(frame: { readonly type: string; readonly id?: string; readonly [member: string]: unknown }): void {
    const { id, type } = frame;
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (!waiting || (type !== "ack" && type !== "problem")) return;
    if (type === "ack") {
      const replayed = frame["replayed"] === true;
      return waiting({ kind: "ok", status: 0, body: JSON.stringify(frame["result"]), replayed });
    }
    const problem = frame["problem"] as Problem;
    if (problem.code === "internal") return waiting({ kind: "broke", error: "internal" });
    waiting({ kind: "refused", rejection: { code: problem.code, detail: problem.detail } });
  }

  #try(asked: Asked): void {
    const { kernel, random, delay, lostAnswers } = this.#deps;
    asked.sent += 1;
    const n = asked.sent;
    let done = false;
    const told = (outcome: Outcome) => {
      if (done) return;
      done = true;
      kernel.after(delay(), () => {
        if (!this.calm && random.chance(lostAnswers)) return;
        this.#tell(asked, outcome);
      });
    };
    const socket =
      FRAMES.includes(asked.command.type) && asked.key !== null ? this.#deps.socketOf(asked.user) : undefined;
    if (socket && random.chance(this.#deps.overSocket)) this.#frame(socket, asked, n, told);
    else kernel.after(delay(), () => this.#rpc(asked, told));
    if (asked.key === null || n > triesOf(asked)) return;
    kernel.after(PATIENCE_MS + random.below(2_000), () => {
      if (asked.answeredAt === null && asked.sent === n) this.#try(asked);
    });
  }

  #rpc(asked: Asked, told: (outcome: Outcome) => void): Promise<void> {
    const { object, conversationId } = this.#deps;
    const { command, key, context } = asked;
    const request = { conversationId, command, ...(key === null ? {} : { idempotencyKey: key }) };
    return object.deliver((life) => {
      void this.#run(life, context, request).then((outcome) => {
        object.gate(life, () => {
          if (command.type === "cancel_run" && outcome.kind === "ok") object.strike("stopped");
          told(outcome);
        });
      });
    });
  }

  async #run(life: Life, context: RequestContext, request: Parameters<Life["actor"]["command"]>[1]): Promise<Outcome> {
    try {
      const answer = await life.actor.command(context, request);
      if (!answer.ok) return { kind: "refused", rejection: answer.rejection };
      return okOf(answer.value);
    } catch (error) {
      if (life.fate === "alive")
        this.#deps.observation.logged.push(line(this.#deps.kernel.now, "threw", "command", error));
      return { kind: "broke", error: String(error) };
    }
  }

  #frame(socket: SimSocket, asked: Asked, n: number, told: (outcome: Outcome) => void): void {
    const { kernel, object, delay, observation } = this.#deps;
    const id = `${asked.id}.${n}`;
    const { command } = asked;
    const flat = "runId" in command ? { runId: command.runId, ...command.body } : command.body;
    const frame = JSON.stringify({ type: command.type, id, idempotencyKey: asked.key, ...flat });
    this.#waiting.set(id, told);
    kernel.after(delay(), () => {
      if (socket.gone || socket.closing || !object.sockets.includes(socket)) return;
      return object.deliver((life) => {
        if (!life.publisher.admits(socket)) return;
        void dispatch(socket, frame, {
          conversationId: life.actor.state.identity?.conversationId ?? "",
          command: (context, request) => life.actor.command(context, request),
          failed: (error) => {
            if (life.fate === "alive") observation.logged.push(line(kernel.now, "threw", "frame", error));
          },
        }).catch((error: unknown) => {
          if (life.fate === "alive") observation.logged.push(line(kernel.now, "threw", "dispatch", error));
        });
      });
    });
  }

  #tell(asked: Asked, outcome: Outcome): void {
    const { kernel, object, random } = this.#deps;
    object.strike("told");
    asked.told.push({ at: kernel.now, head: object.head, outcome });
    if (outcome.kind === "broke" || (outcome.kind === "refused" && outcome.rejection.code === "overloaded")) {
      if (asked.answeredAt === null && asked.key !== null && asked.sent <= triesOf(asked)) {
        kernel.after(500 + random.below(1_000), () => {
          if (asked.answeredAt === null) this.#try(asked);
        });
      }
      return;
    }
    const first = asked.answeredAt === null;
    asked.answeredAt ??= kernel.now;
    if (first) this.#deps.answered(asked, outcome);
  }
}

const okOf = ({ status, body, replayed }: CommandAnswer): Outcome => ({
  kind: "ok",
  status,
  body: JSON.stringify(body),
  replayed,
});

const triesOf = ({ command }: Asked): number => (command.type === "create_conversation" ? TRIES_TO_CREATE : TRIES);
