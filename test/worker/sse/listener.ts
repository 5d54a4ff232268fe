/**
 * One client of an event stream: reads by the standard's rules, keeps the last id, and comes back with it. Waits are for
 * conditions, looked at after each event; the time limit only says what came instead.
 */
import { ConversationView } from "../../../src/client/conversation-view.ts";
import type { Event } from "../../../src/protocol/events.ts";
import type { ServerFrame } from "../../../src/protocol/frames.ts";
import type { CallInit, Person } from "../harness/people.ts";

const PATIENCE_MS = 20_000;

export interface Heard {
  readonly type: string;
  readonly id?: string;
  readonly data: unknown;
}

export class Listener {
  /** Everything of all connections, in order. */
  readonly heard: Heard[] = [];
  readonly view = new ConversationView();
  lastId: string | undefined;
  ended = false;
  comments = 0;
  /** How many streams it opened. */
  opened = 0;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  readonly #looks = new Set<() => void>();
  /** Called after each event; true: cut here. */
  cutAfter: (heard: Heard) => boolean = () => false;
  /** After such a cut: with its last id. */
  comesBack = false;

  /** @param after where to begin; with a `lastId` that counts instead */
  constructor(after?: string) {
    if (after !== undefined) this.lastId = after;
  }

  /** Opens a stream and returns once its headers are there. */
  async open(person: Person, path: string, init: CallInit & { readonly method?: string } = {}): Promise<Response> {
    const { method = "GET", headers, ...rest } = init;
    const id = this.lastId === undefined ? {} : { "last-event-id": this.lastId };
    const response = await person.call(method, path, {
      ...rest,
      headers: { accept: "text/event-stream", ...id, ...headers },
    });
    if (response.status !== 200) return response;
    if (!response.body) throw new Error("a stream without a body");
    this.ended = false;
    this.#reader = response.body.getReader();
    this.opened++;
    const again = () => this.open(person, path, init);
    void this.#read(this.#reader, again);
    return response;
  }

  /** Cuts: nothing of this connection is heard from now on. */
  async cut(): Promise<void> {
    const reader = this.#reader;
    this.#reader = null;
    await reader?.cancel();
  }

  get events(): readonly Event[] {
    return this.view.events;
  }

  ofType(type: string): Heard[] {
    return this.heard.filter((one) => one.type === type);
  }

  until<T>(what: string, find: () => T | undefined | false | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        this.#looks.delete(look);
      };
      const timer = setTimeout(() => {
        done();
        const types = this.heard.map(({ type }) => type);
        reject(new Error(`waited in vain for ${what}; heard: ${types.join(", ")}; ended: ${this.ended}`));
      }, PATIENCE_MS);
      const look = () => {
        const found = find();
        if (found === undefined || found === false || found === null) return;
        done();
        resolve(found);
      };
      this.#looks.add(look);
      look();
    });
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, again: () => Promise<unknown>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      // A stream that was cut rejects what still reads it.
      const part = await reader.read().catch((error: unknown) => {
        if (reader === this.#reader) throw error;
      });
      if (part === undefined || reader !== this.#reader) return;
      if (part.done) break;
      rest += decoder.decode(part.value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const heard = this.#take(block);
        const cut = heard !== null && this.cutAfter(heard);
        this.#look();
        if (!cut) continue;
        await this.cut();
        if (this.comesBack) await again();
        return;
      }
    }
    this.ended = true;
    this.#look();
  }

  #take(block: string): Heard | null {
    if (block.startsWith(":")) {
      this.comments++;
      return null;
    }
    const fields: Record<string, string> = {};
    for (const line of block.split(/\r\n|\r|\n/)) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon);
      if (name in fields) throw new Error(`the field ${name} twice: ${block}`);
      fields[name] = line.slice(colon + 1).replace(/^ /, "");
    }
    const { event: type = "message", data = "", id } = fields;
    const heard: Heard = { type, data: JSON.parse(data) as unknown, ...(id === undefined ? {} : { id }) };
    this.heard.push(heard);
    if (id !== undefined) this.lastId = id;
    const frame = id === undefined ? heard.data : { type: "event", cursor: id, event: heard.data };
    if (type !== "closed") this.view.take(frame as ServerFrame);
    return heard;
  }

  #look(): void {
    for (const look of this.#looks) look();
  }
}
