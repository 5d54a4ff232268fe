/**
 * Tells a story to its end, through a death where one is ordered. Whoever speaks to the service does as clients do: again
 * with the same key after an unknown outcome, and back with the cursor where the socket is gone.
 */
import { ProblemError } from "../../src/client/http.ts";
import { isTerminal, type Event } from "../../src/protocol/events.ts";
import type { Run } from "../../src/protocol/run.ts";
import { evolve } from "../../src/run/evolve.ts";
import type { CallState, State } from "../../src/run/state.ts";
import type { Talk } from "../worker/harness/talk.ts";
import type { Subject } from "./fuses.ts";
import type { Standing } from "./points.ts";
import { HELD_MS, type Story } from "./stories.ts";

/** After a death nobody speaks for so long, in every second case: the alarm must do. */
const SILENCE_MS = 500;
const LOOK_MS = 200;
const GUARD_MS = 5;
const TRIES = 200;
/** Only a hang takes that long. */
const PATIENCE_MS = 120_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const tell = (events: readonly Event[]): string =>
  events
    .slice(-40)
    .map(({ type, runId }) => `${type} ${runId?.slice(26) ?? ""}`)
    .join(", ");

interface Cast {
  readonly story: Story;
  readonly talk: Talk;
  readonly subject: Subject;
  /** The conversation as it stands before. */
  readonly folded: State;
  readonly name: string;
  readonly silent: boolean;
}

export class Player {
  readonly #story: Story;
  readonly #talk: Talk;
  readonly #subject: Subject;
  readonly #name: string;
  readonly #silent: boolean;
  /** Resolves when it may be spoken to. */
  #up: Promise<void> = Promise.resolve();
  #over = false;
  #heldSince: number | null = null;
  #others: readonly Run[] | null = null;
  #folded: State;
  /** As long as the run that it belongs to was remembered whole. */
  #call: CallState | null = null;
  readonly #until = Date.now() + PATIENCE_MS;
  wokenByAlarm = false;

  constructor({ story, talk, subject, folded, name, silent }: Cast) {
    this.#story = story;
    this.#talk = talk;
    this.#subject = subject;
    this.#folded = folded;
    this.#name = name;
    this.#silent = silent;
  }

  get call(): CallState | null {
    this.#fold();
    return this.#call;
  }

  /**
   * Sees to what a death takes. It looks for itself: what the dying object would call runs in the object's own context,
   * whose timers and requests die with it.
   */
  async #guard(): Promise<void> {
    while (!this.#over && !this.#subject.hit) await pause(GUARD_MS);
    if (this.#subject.hit) await (this.#up = this.#recover());
  }

  async #recover(): Promise<void> {
    const subject = this.#subject;
    const { lives, arm } = subject;
    if (arm?.death === "evicted") await this.#talk.evict().catch(() => undefined);
    else this.#talk.watcher.cut();
    if (!this.#silent) return;
    for (const until = Date.now() + SILENCE_MS; Date.now() < until && subject.lives === lives;) await pause(GUARD_MS);
    this.wokenByAlarm = subject.lives > lives;
  }

  async play(): Promise<number> {
    const guard = this.#guard();
    try {
      return await this.#tell();
    } finally {
      this.#over = true;
      await guard;
      await this.#connected();
    }
  }

  /** @returns how many runs that were */
  async #tell(): Promise<number> {
    const { person, id } = this.#talk;
    const { plan } = this.#story;
    const key = `${this.#name}-start`;
    const run = await this.#command(() => person.client.startRun(id, { text: `${this.#name}-1 ${plan}` }, key));
    if (!run) throw new Error("the run was refused");
    while (!this.#isOver(run)) {
      await this.#react(run);
      await this.#change();
    }
    this.#others ??= this.#subject.hit ? [] : await this.#doOthers();
    for (const other of this.#others) while (!this.#isOver(other)) await this.#change();
    while (!this.#isEnough) await this.#change();
    const { call } = this;
    // Of a run that has ended it is only recorded.
    if (call?.state === "unknown" && call.resolution === null) await this.#giveUp(run, [call.id]);
    return 1 + this.#others.length;
  }

  /** As the events say that have come so far. */
  #fold(): State {
    for (const event of this.#talk.events.slice(this.#folded.seq)) {
      this.#folded = evolve(this.#folded, event);
      const { active, latest } = this.#folded;
      const runs = [active, latest].flatMap((run) => run ?? []);
      this.#call = runs.flatMap(({ calls }) => calls).find(({ id }) => id === this.#subject.callId) ?? this.#call;
    }
    return this.#folded;
  }

  #isOver({ id }: Run): boolean {
    return this.#talk.events.some((event) => isTerminal(event.type) && event.runId === id);
  }

  async #react(run: Run): Promise<void> {
    const { held, decisions } = this.#story;
    const active = this.#fold().active;
    const refused = this.#talk
      .of("tool_call.refused", run)
      .some(({ data }) => data.toolCallId === this.#subject.callId);
    const standing: Standing = refused ? "refused" : (this.#call?.state ?? "none");
    // A death that has come already needs no more occasions.
    if (standing === held) this.#others ??= this.#subject.hit ? [] : await this.#doOthers();
    if (standing === held && !this.#isEnough) return;
    if (standing === this.#story.cancelledAt) await this.#command(() => this.#talk.person.client.cancel(run.id));
    const calls = active?.calls ?? [];
    for (const call of calls) {
      const wanted = decisions[call.n];
      if (call.state !== "awaiting_confirmation" || !wanted || (wanted.later && !this.#others)) continue;
      await this.#decide(run, call, wanted.decision);
    }
    const unknown = calls.filter(({ state, resolution }) => state === "unknown" && !resolution).map(({ id }) => id);
    // Another story's call may have become unknown by a death, and waits for nothing.
    if (unknown.length > 0 && (held !== "unknown" || this.#others)) await this.#giveUp(run, unknown);
  }

  /** The death has come, or has had its time; alarm and history come a little later than what people do. */
  get #isEnough(): boolean {
    this.#heldSince ??= Date.now();
    return this.#subject.arm === null || this.#subject.hit || Date.now() - this.#heldSince > HELD_MS;
  }

  /** Another title, which the history is to know soon; a message that waits, by the socket; one that is refused. */
  async #doOthers(): Promise<readonly Run[]> {
    const { client } = this.#talk.person;
    await this.#again(() => this.#rename());
    const queued = await this.#startBySocket(`${this.#name}-2 lookup_order`);
    if (this.#subject.hit) return [queued];
    const text = `${this.#name}-3 -`;
    const refused = await this.#command(() =>
      client.startRun(this.#talk.id, { text, whenBusy: "reject" }, `${this.#name}-third`),
    );
    return refused ? [queued, refused] : [queued];
  }

  async #rename(): Promise<void> {
    const { person, id } = this.#talk;
    const { status } = await person.call("PATCH", `/v1/conversations/${id}`, { body: { title: this.#name } });
    if (status >= 500 || status === 429) throw new Error(`the title was not taken: ${status}`);
  }

  #decide(run: Run, { id: toolCallId, argsDigest }: CallState, decision: "approve" | "reject"): Promise<Run | null> {
    const decisions = [{ toolCallId, argsDigest, decision }];
    return this.#command(() => this.#talk.person.client.resume(run.id, { decisions }, `${toolCallId}-${decision}`));
  }

  #giveUp(run: Run, ids: readonly string[]): Promise<Run | null> {
    const resolutions = ids.map((toolCallId) => ({ toolCallId, outcome: "give_up" as const }));
    return this.#command(() => this.#talk.person.client.resume(run.id, { resolutions }, `${ids.join()}-give-up`));
  }

  /** @returns null: it was refused */
  async #command(send: () => Promise<Run>): Promise<Run | null> {
    return this.#again(async () => {
      try {
        return await send();
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status < 500 && error.problem.status !== 429) return null;
        throw error;
      }
    });
  }

  /** Until there is an answer. */
  async #again<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      await this.#up;
      try {
        return await ask();
      } catch (error) {
        if (tries === TRIES) throw error;
        await this.#change();
      }
    }
  }

  async #startBySocket(text: string): Promise<Run> {
    const { watcher } = this.#talk;
    const frame = { type: "start_run", idempotencyKey: `${this.#name}-second`, input: { text }, whenBusy: "enqueue" };
    for (let n = 1; n <= TRIES; n++) {
      await this.#up;
      await this.#connected();
      const id = `${this.#name}-${n}`;
      const { connections } = watcher;
      watcher.send(JSON.stringify({ ...frame, id }));
      for (let looks = 0; looks < TRIES && watcher.closed === null && watcher.connections === connections; looks++) {
        const answer = watcher.frames.find((one) => (one.type === "ack" || one.type === "problem") && one.id === id);
        if (answer?.type === "ack") return answer.result as Run;
        if (answer) break;
        await this.#change();
        await this.#up;
      }
    }
    throw new Error("the socket gave no answer");
  }

  /** The next frame that is no preview, or a while without one. Whoever is cut comes back meanwhile. */
  async #change(): Promise<void> {
    const { watcher } = this.#talk;
    if (Date.now() > this.#until) throw new Error(`this comes to no end: ${tell(this.#talk.events)}`);
    await this.#up;
    await this.#connected();
    await Promise.race([
      new Promise<void>((resolve) => {
        watcher.onFrame = ({ type }) => type !== "delta" && resolve();
      }),
      pause(LOOK_MS),
    ]);
  }

  async #connected(): Promise<void> {
    const { watcher } = this.#talk;
    for (let tries = 1; !watcher.connected; tries++) {
      try {
        await watcher.connect();
      } catch (error) {
        if (tries === TRIES) throw error;
        await pause(LOOK_MS);
      }
    }
  }
}
