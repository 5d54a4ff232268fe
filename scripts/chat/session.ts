/**
 * One conversation at a terminal: shows what happens, asks what must be asked, and sends what the person says. All state
 * is the service's; killing the terminal loses nothing.
 */
import type { HoldpointClient } from "../../src/client/client.ts";
import { ProblemError } from "../../src/client/http.ts";
import { Watch } from "../../src/client/watch.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Message } from "../../src/protocol/message.ts";
import type { Run } from "../../src/protocol/run.ts";
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import { card } from "./card.ts";
import type { Ask } from "./input.ts";
import { answerOf } from "./questions.ts";
import type { Screen } from "./screen.ts";
import type { Words } from "./words.ts";

export class Session {
  readonly conversationId: string;
  readonly #client: HoldpointClient;
  readonly #screen: Screen;
  readonly #words: Words;
  readonly #ask: Ask;
  readonly #watch: Watch;
  #runId: string | null = null;
  #question: { readonly call: ToolCall; readonly withdrawn: AbortController } | null = null;
  #lost = false;
  #changed: () => void = () => undefined;

  constructor(
    client: HoldpointClient,
    conversation: { id: string; headCursor: string },
    screen: Screen,
    words: Words,
    ask: Ask,
  ) {
    this.conversationId = conversation.id;
    this.#client = client;
    this.#screen = screen;
    this.#words = words;
    this.#ask = ask;
    this.#watch = new Watch(client.connection, conversation.id, {
      after: conversation.headCursor,
      onEvent: (event) => this.#show(event),
      onFrame: (frame, { live }) => {
        if (frame.type === "welcome" && this.#lost) {
          this.#lost = false;
          screen.line(words.reconnected);
        }
        if ((frame.type === "delta" || frame.type === "partial") && live) screen.stream(live.messageId, live.text);
      },
      onClose: (code) => {
        if (code === 1000 || this.#lost) return;
        this.#lost = true;
        screen.line(words.reconnecting);
      },
    });
  }

  /** Sends a message and stays with its run, through every question, until it has ended. */
  async say(text: string): Promise<void> {
    const started = await this.#client.startRun(this.conversationId, { text });
    if (started.position !== undefined) this.#screen.line(this.#words.queued(started.position));
    await this.follow(started.id);
  }

  async follow(runId: string): Promise<void> {
    this.#runId = runId;
    for (;;) {
      const run = await this.#look(runId);
      if (run === null) continue;
      if (run.stop) break;
      if (run.status === "interrupted" && run.pending.length > 0) {
        if (!(await this.#answer(run))) break;
      } else await this.#next();
    }
    this.#runId = null;
  }

  /**
   * Stops the run in progress: a command to the service, not a closed connection.
   * @returns false where none runs
   * @throws TypeError where the service does not answer: nothing has been stopped then
   */
  async cancel(): Promise<boolean> {
    if (this.#runId === null) return false;
    this.#screen.line(this.#words.cancelling);
    await this.#client.cancel(this.#runId, "stopped at the terminal").catch((error: unknown) => {
      // A refusal says that it has ended already, which the next look shows.
      if (!(error instanceof ProblemError) || error.problem.status >= 500) throw error;
    });
    return true;
  }

  close(): void {
    this.#watch.stop();
  }

  /** @returns false when the input has ended: what waits goes on waiting */
  async #answer(run: Run): Promise<boolean> {
    for (const call of run.pending) {
      this.#screen.line(call.state === "unknown" ? this.#words.unknown : this.#words.confirm);
      this.#screen.line(card(call, this.#words));
      const withdrawn = new AbortController();
      this.#question = { call, withdrawn };
      const asking = { ask: this.#ask, words: this.#words, withdrawn: withdrawn.signal };
      const body = await answerOf(call, { ...asking, line: (text) => this.#screen.line(text) });
      this.#question = null;
      if (withdrawn.signal.aborted) return true;
      if (body === null) return false;
      try {
        await this.#client.resume(run.id, body);
      } catch (error) {
        // Somebody else was faster, or it has expired: the next look tells.
        if (!(error instanceof ProblemError)) throw error;
        this.#screen.line(`! ${error.problem.title}: ${error.problem.detail}`);
      }
    }
    return true;
  }

  /** The question that stands goes when what it asks has been answered elsewhere, or its run has been stopped. */
  async #lookAtQuestion(): Promise<void> {
    const asked = this.#question;
    if (asked === null) return;
    const run = await this.#client.run(asked.call.runId).catch(() => null);
    const open = (call: ToolCall) =>
      call.id === asked.call.id && call.state === asked.call.state && call.argsDigest === asked.call.argsDigest;
    if (run && !run.pending.some(open)) asked.withdrawn.abort();
  }

  #show(event: Event): void {
    switch (event.type) {
      case "message.completed":
        this.#screen.settle(event.data.message.id, textOf(event.data.message));
        break;
      case "tool_call.started":
        this.#screen.line(this.#words.running(event.data.tool));
        break;
      case "tool_call.finished": {
        const { success, displayText } = event.data.payload;
        this.#screen.line(success ? this.#words.done(displayText) : this.#words.failed(displayText));
        break;
      }
      case "tool_call.refused":
        this.#screen.line(this.#words.failed(event.data.payload.displayText));
        break;
      case "run.failed":
      case "run.cancelled":
        this.#screen.line(this.#words.ended(event.type.slice("run.".length), event.data.stop.code));
        break;
      default:
    }
    this.#changed();
    void this.#lookAtQuestion();
  }

  /** null: the service is away for a while; the run is its own, so the person stays with it. */
  async #look(runId: string): Promise<Run | null> {
    try {
      return await this.#client.run(runId);
    } catch (error) {
      const away = error instanceof ProblemError ? error.problem.status >= 500 : error instanceof TypeError;
      if (!away) throw error;
      await this.#next();
      return null;
    }
  }

  /** The next event, or a look after two seconds: a lost connection must not leave the person waiting. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 2_000);
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const textOf = ({ parts }: Message): string =>
  parts.map((part) => (part.type === "text" || part.type === "notice" ? (part.text ?? "") : "")).join("");
