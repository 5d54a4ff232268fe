/** Watchers that come and go all the time and write down every frame (**W**). */
import type { Random } from "../../sim/random.ts";
import { nowMs, pause } from "../common/figures.ts";
import type { Person } from "../common/people.ts";
import type { Connection } from "./seen.ts";

export interface WatcherDeps {
  readonly baseUrl: string;
  readonly conversationId: string;
  readonly generation: string;
  readonly random: Random;
  readonly up: () => Promise<void>;
  readonly sawEvent: () => void;
  readonly connections: Connection[];
}

const OPENING_MS = 10_000;

export class Watcher {
  readonly #deps: WatcherDeps;
  readonly #person: Person;
  /** The last event that it has of an unbroken series from the first one. */
  #has = 0;
  #over = false;
  readonly done: Promise<void>;

  constructor(person: Person, deps: WatcherDeps) {
    this.#person = person;
    this.#deps = deps;
    this.done = this.#watch();
  }

  get has(): number {
    return this.#has;
  }

  /** The connection that is open now stays until it has everything up to there. */
  async finish(head: number): Promise<boolean> {
    for (const until = nowMs() + OPENING_MS * 2; this.#has < head && nowMs() < until;) await pause(20);
    this.#over = true;
    await this.done;
    return this.#has >= head;
  }

  async #watch(): Promise<void> {
    const { up, random } = this.#deps;
    while (!this.#over) {
      await up();
      await this.#connect();
      await pause(random.next() * 40);
    }
  }

  #connect(): Promise<void> {
    const { baseUrl, conversationId, generation, random, connections } = this.#deps;
    // Mostly where it was; at times further back, or like somebody new.
    const choice = random.weighted({ on: 16, back: 3, anew: 1 });
    const after = choice === "anew" ? null : choice === "back" ? random.below(this.#has + 1) : this.#has;
    const query = after === null ? "" : `?after=${generation}.${after}`;
    const url = `${baseUrl.replace(/^http/, "ws")}/v1/conversations/${conversationId}/stream${query}`;
    const options = {
      protocols: ["holdpoint.v1"],
      headers: { authorization: `Bearer ${this.#person.token}` },
    };
    const socket = new WebSocket(url, options as unknown as string[]);
    const connection: Connection = { user: this.#person.userId, after, frames: [] };
    connections.push(connection);
    return new Promise((resolve) => {
      const leave = setTimeout(() => socket.close(), random.between(50, 2_000));
      const lost = setTimeout(resolve, OPENING_MS);
      socket.addEventListener("message", ({ data }) => {
        if (typeof data !== "string") return;
        connection.frames.push(data);
        this.#take(data);
      });
      socket.addEventListener("close", () => {
        clearTimeout(leave);
        clearTimeout(lost);
        resolve();
      });
    });
  }

  #take(text: string): void {
    const frame = JSON.parse(text) as {
      type: string;
      event?: { seq: number };
      events?: { seq: number }[];
      headCursor?: string;
    };
    const seqs = frame.type === "event" ? [frame.event?.seq ?? 0] : (frame.events ?? []).map(({ seq }) => seq);
    for (const seq of seqs) if (seq === this.#has + 1) this.#has = seq;
    // Too far behind: it goes on from the snapshot, as any client would.
    if (frame.type === "reset") this.#has = Math.max(this.#has, Number(frame.headCursor?.split(".")[1] ?? 0));
    if (seqs.length > 0) this.#deps.sawEvent();
  }
}
