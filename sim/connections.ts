/** Watching: sockets with cursors, that break and come back; and reads of the snapshot. */
import type { Conversation } from "../src/protocol/conversation.ts";
import type { Event } from "../src/protocol/events.ts";
import { principalOf } from "../src/protocol/principal.ts";
import { greet } from "../src/stream/greeting.ts";
import type { Watcher } from "../src/stream/sockets.ts";
import type { Kernel } from "./kernel.ts";
import type { Life } from "./life.ts";
import type { SimObject } from "./object.ts";
import type { Connection, Frame, Observation } from "./observation.ts";
import type { People } from "./people.ts";
import type { Random } from "./random.ts";
import { SimSocket } from "./sockets.ts";

export interface ConnectionDeps {
  readonly kernel: Kernel;
  readonly object: SimObject;
  readonly observation: Observation;
  readonly people: People;
  readonly random: Random;
  readonly delay: () => number;
  readonly weight: number;
  readonly event: (event: Event) => void;
  readonly snapshot: (conversation: Conversation) => void;
  readonly answer: (frame: Frame) => void;
}

const PATIENCE_MS = 3_000;

export type CursorKind = "last" | "older" | "beginning" | "ahead" | "other" | "none";

interface Position {
  readonly generation: string;
  readonly seq: number;
}

export class Connections {
  readonly #deps: ConnectionDeps;
  readonly #sockets = new Map<string, SimSocket>();
  /** The last event that each user has seen. */
  readonly #cursors = new Map<string, Position>();
  readonly #parsed = new Map<string, Frame>();
  /** Nobody comes back any more. */
  over = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  of(user: string): SimSocket | undefined {
    const socket = this.#sockets.get(user);
    return socket && !socket.gone ? socket : undefined;
  }

  open(user: string, after: Position | null): void {
    const { kernel, object, observation, people, delay } = this.#deps;
    const context = people.context(user);
    const principal = principalOf(context);
    let refused = false;
    // The upgrade may be lost with the object.
    kernel.after(PATIENCE_MS, () => {
      if (!this.over && !refused && !this.#sockets.has(user)) this.open(user, after);
    });
    kernel.after(delay(), () =>
      object.deliver((life) => {
        const watching = life.actor.watch(principal);
        refused = !watching.ok;
        if (!watching.ok) return;
        const connection: Connection = { user, openedAt: kernel.now, after, frames: [], closed: null };
        const watcher: Watcher = {
          principal,
          requestId: context.requestId,
          traceId: "t",
          expiresAt: context.expiresAt,
        };
        const frames = greet({
          ...watching.value,
          userId: user,
          position: after,
          now: kernel.now,
          events: (query) => life.journal.events(query),
          inProgress: life.actor.inProgress() ?? life.journal.checkpoint(),
        });
        this.#accept(life, user, watcher, connection, frames);
        observation.connections.push(connection);
      }),
    );
  }

  /** Breaks the user's socket and comes back with this cursor. */
  again(user: string, kind: CursorKind, random: Random): void {
    const last = this.#cursors.get(user) ?? null;
    this.of(user)?.cut(1006);
    this.open(user, cursorOf(kind, last, random));
  }

  read(user: string): void {
    const { kernel, object, observation, people, delay } = this.#deps;
    const principal = principalOf(people.context(user));
    kernel.after(delay(), () =>
      object.deliver((life) => {
        const read = life.actor.reads.snapshot(principal);
        object.gate(life, () => {
          const { now: at } = kernel;
          if (!read.ok) return;
          observation.snapshots.push({ at, user, conversation: read.value });
          if (user === "alice") this.#deps.snapshot(read.value);
        });
      }),
    );
  }

  #accept(life: Life, user: string, watcher: Watcher, connection: Connection, greeting: readonly string[]): void {
    const { kernel, object, delay, weight } = this.#deps;
    const parse = (text: string) => this.#parse(text);
    const world = { kernel, gate: (run: () => void) => object.gate(object.life ?? life, run), delay, weight, parse };
    const peer = {
      heard: (frame: Frame) => this.#heard(user, frame),
      ended: () => this.#ended(user, socket),
    };
    const socket = new SimSocket(world, peer, connection, watcher);
    object.sockets.push(socket);
    this.#sockets.set(user, socket);
    for (const frame of greeting) socket.send(frame);
  }

  #parse(text: string): Frame {
    const known = this.#parsed.get(text);
    if (known) return known;
    const frame = JSON.parse(text) as Frame;
    this.#parsed.set(text, frame);
    return frame;
  }

  #ended(user: string, socket: SimSocket): void {
    const { kernel, object, random } = this.#deps;
    object.sockets = object.sockets.filter((one) => one !== socket);
    if (this.#sockets.get(user) !== socket) return;
    this.#sockets.delete(user);
    if (this.over) return;
    kernel.after(random.between(10, 2_000), () => {
      if (!this.#sockets.has(user)) this.open(user, random.chance(0.9) ? (this.#cursors.get(user) ?? null) : null);
    });
  }

  #heard(user: string, frame: Frame): void {
    const { observation, kernel } = this.#deps;
    // A viewer is not shown what people would need to act on.
    const acts = user !== "dave";
    switch (frame.type) {
      case "welcome":
      case "reset": {
        const conversation = (frame["conversation"] ?? frame["snapshot"]) as Conversation;
        observation.snapshots.push({ at: kernel.now, user, conversation });
        if (acts) this.#deps.snapshot(conversation);
        // A greeting without a cursor, and a reset, make the snapshot's head the place to go on from.
        if (frame.type === "reset" || !this.#cursors.has(user)) this.#move(user, conversation.headCursor);
        return;
      }
      case "event":
        this.#move(user, frame["cursor"] as string);
        if (acts) this.#deps.event(frame["event"] as Event);
        return;
      case "events":
        this.#move(user, frame["cursor"] as string);
        for (const event of acts ? (frame["events"] as Event[]) : []) this.#deps.event(event);
        return;
      default:
        this.#deps.answer(frame);
    }
  }

  #move(user: string, cursor: string): void {
    const [generation = "", seq = "0"] = cursor.split(".");
    this.#cursors.set(user, { generation, seq: Number(seq) });
  }
}

function cursorOf(kind: CursorKind, last: Position | null, random: Random): Position | null {
  if (!last || kind === "none") return null;
  switch (kind) {
    case "last":
      return last;
    case "older":
      return { ...last, seq: random.below(last.seq + 1) };
    case "beginning":
      return { ...last, seq: 0 };
    case "ahead":
      return { ...last, seq: last.seq + 1_000 };
    case "other":
      return { generation: "other000", seq: last.seq };
  }
}
