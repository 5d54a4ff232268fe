/**
 * A conversation in which a story is told again and again, each time with one death in it or none; and what holds of it
 * in the end, whatever was told.
 */
import { evolve } from "../../src/run/evolve.ts";
import { EMPTY, type CallState, type State } from "../../src/run/state.ts";
import { agree } from "../worker/harness/agreement.ts";
import { backend } from "../worker/harness/fakes.ts";
import { Talk } from "../worker/harness/talk.ts";
import { forget, watch, type Subject } from "./fuses.ts";
import { Player } from "./player.ts";
import type { Arm } from "./points.ts";
import type { Story } from "./stories.ts";

export interface Played {
  readonly hit: boolean;
  /** A new life began while nobody spoke. */
  readonly wokenByAlarm: boolean;
  readonly call: CallState | null;
  /** Effects of the call, as the backend has booked them. */
  readonly done: number;
}

export class Theatre {
  readonly #story: Story;
  readonly #talk: Talk;
  readonly #subject: Subject;
  #folded: State = EMPTY;
  #runs = 0;

  static async open(story: Story): Promise<Theatre> {
    const { confirmationTtlMs } = story;
    const talk = await Talk.open(confirmationTtlMs === undefined ? {} : { confirmationTtlMs });
    return new Theatre(story, talk, (await talk.stub()).id.toString());
  }

  private constructor(story: Story, talk: Talk, objectId: string) {
    this.#story = story;
    this.#talk = talk;
    this.#subject = {
      conversationId: talk.id,
      objectId,
      scope: talk.scope,
      userId: talk.person.userId,
      callId: "",
      arm: null,
      visited: new Set(),
      lives: 0,
      hit: false,
    };
    watch(this.#subject);
  }

  get visited(): ReadonlySet<string> {
    return this.#subject.visited;
  }

  async play(arm: Arm | null, silent: boolean): Promise<Played> {
    const { plan, fault, faulty, readFault, call } = this.#story;
    const name = `#${crypto.randomUUID()}`;
    const args = argsOf(plan, call, `${name}-1`);
    const match = argsOf(plan, faulty ?? call, `${name}-1`);
    if (fault) await backend.fault({ ...fault, route: "POST /transfer", match });
    const order_id = `${name}-1.0.${plan.split(",").indexOf("lookup_order")}`;
    if (readFault) await backend.fault({ ...readFault, route: "/lookup_order", match: { order_id } });
    for (const event of this.#talk.events.slice(this.#folded.seq)) this.#folded = evolve(this.#folded, event);
    const callId = `${this.#talk.id}.r${this.#runs + 1}.t${call}`;
    Object.assign(this.#subject, { callId, arm, hit: false });
    const player = new Player({
      story: this.#story,
      talk: this.#talk,
      subject: this.#subject,
      folded: this.#folded,
      name,
      silent,
    });
    this.#runs += await player.play();
    const bookings = await this.#talk.bookings();
    const done = bookings.filter(({ body }) => Object.entries(args).every(([name, value]) => body[name] === value));
    return { hit: this.#subject.hit, wokenByAlarm: player.wokenByAlarm, call: player.call, done: done.length };
  }

  /** What holds of the whole conversation, whatever was played in it. */
  async close(): Promise<void> {
    forget(this.#subject);
    await agree(this.#talk);
  }
}

/** What names the call at the backend. */
function argsOf(plan: string, call: number, name: string): Record<string, string> {
  const calls = plan.split(";").flatMap((step, n) => step.split(",").map((tool, of) => ({ tool, id: `${n}.${of}` })));
  const { tool = "", id = "" } = calls[call - 1] ?? {};
  return { [tool === "book_note" ? "note" : "recipient_id"]: `${name}.${id}` };
}
