/**
 * A watcher that comes back with its cursor as often as it is told to, measures how long it takes until it has what it
 * missed, and counts what a correct server never causes: gaps and repeats.
 */
import { pause } from "../common/figures.ts";
import type { Person } from "../common/people.ts";
import { RawSocket } from "./raw-socket.ts";

export interface Place {
  readonly baseUrl: string;
  readonly conversationId: string;
  readonly generation: string;
}

const TRIES = 12;

interface Frame {
  readonly type: string;
  readonly headCursor?: string;
  readonly cursor?: string;
  readonly text?: string;
  readonly event?: { readonly seq: number };
  readonly events?: readonly { readonly seq: number }[];
}

export class StormWatcher {
  readonly place: Place;
  readonly #person: Person;
  readonly #resumes: number[];
  #socket: RawSocket | null = null;
  #since = 0;
  /** The head that the welcome named, until everything up to there has come. */
  #wanted: number | null = null;
  #caughtUp: ((done: boolean) => void) | null = null;
  seq = 0;
  gaps = 0;
  repeats = 0;
  resets = 0;
  events = 0;
  /** Characters of previews. */
  chars = 0;
  retries = 0;

  /** @param resumes where it writes how long it took, in ms */
  constructor(place: Place, person: Person, resumes: number[]) {
    this.place = place;
    this.#person = person;
    this.#resumes = resumes;
  }

  /**
   * Cuts what is open and comes back, trying again as a client does: the service may not have noticed yet that the old
   * connection is gone. Resolves when it has what it missed; @returns false where it never did.
   */
  async reconnect(): Promise<boolean> {
    this.cut();
    this.#since = performance.now();
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.#connect()) return true;
      this.retries += 1;
      await pause(Math.random() * Math.min(1_000, 50 * 2 ** tries));
    }
    return false;
  }

  #connect(): Promise<boolean> {
    const { baseUrl, conversationId, generation } = this.place;
    this.#wanted = null;
    return new Promise((resolve) => {
      this.#caughtUp = resolve;
      const socket = new RawSocket({
        url: `${baseUrl}/v1/conversations/${conversationId}/stream?after=${generation}.${this.seq}`,
        token: this.#person.token,
        onText: (text) => {
          if (this.#socket === socket) this.#take(JSON.parse(text) as Frame);
        },
        onClose: () => {
          if (this.#socket !== socket) return;
          this.#socket = null;
          resolve(false);
        },
      });
      this.#socket = socket;
    });
  }

  get connected(): boolean {
    return this.#socket !== null;
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  cut(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.cut();
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case "welcome":
        this.#wanted = seqOf(frame.headCursor);
        return;
      case "events":
        for (const { seq } of frame.events ?? []) this.#event(seq);
        return this.#caught();
      case "event":
        return this.#event(frame.event?.seq ?? 0);
      case "reset":
        this.resets += 1;
        this.seq = seqOf(frame.headCursor);
        return this.#caught();
      case "delta":
        this.chars += frame.text?.length ?? 0;
        return;
      default:
        return;
    }
  }

  #event(seq: number): void {
    this.events += 1;
    if (seq <= this.seq) this.repeats += 1;
    else if (seq !== this.seq + 1) this.gaps += 1;
    this.seq = Math.max(seq, this.seq);
  }

  #caught(): void {
    if (this.#wanted === null || this.seq < this.#wanted) return;
    this.#wanted = null;
    this.#resumes.push(performance.now() - this.#since);
    this.#caughtUp?.(true);
  }
}

const seqOf = (cursor: string | undefined): number => Number(cursor?.split(".")[1] ?? 0);
