/** A publisher with the sockets of a test, on its clock; and a conversation that has something to publish. */
import type { EncodedEvent } from "../../src/actor/ports.ts";
import { type Delta } from "../../src/protocol/frames.ts";
import type { State } from "../../src/run/state.ts";
import type { InProgress } from "../../src/stream/encode-frames.ts";
import { SocketPublisher } from "../../src/stream/publisher.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { ALICE, call, CONVERSATION, Talk } from "../storage/talk.ts";
import { room, type FakeSocket } from "./fake-socket.ts";

export const MESSAGE = `${CONVERSATION}.m2`;
export const delta = (offset: number, text: string): Delta => ({
  type: "delta",
  messageId: MESSAGE,
  attempt: 1,
  part: 0,
  offset,
  text,
});

export class Stage {
  now = 1_000;
  progress: InProgress | null = null;
  readonly lost: unknown[] = [];
  readonly publisher: SocketPublisher;
  readonly #sockets: FakeSocket[];

  constructor(...sockets: FakeSocket[]) {
    this.#sockets = sockets;
    this.publisher = this.life();
  }

  /** A new life of the object: the same sockets, no memory. */
  life(): SocketPublisher {
    return new SocketPublisher({
      sockets: room(...this.#sockets),
      now: () => this.now,
      inProgress: () => this.progress,
      log: { warn: (event, fields) => this.lost.push({ event, ...fields }) },
    });
  }
}

/** A conversation of alice's with a viewer, and the events of one gated call. */
export function shared(): { state: State; events: readonly EncodedEvent[] } {
  const talk = new Talk(nodeJournal());
  talk.create();
  talk.turn({
    type: "command",
    command: { type: "put_participant", userId: "vic", body: { role: "viewer" } },
    principal: ALICE,
    facts: {},
  });
  talk.say("pay them");
  const { events } = talk.answer({ text: "may I?" }, [call({ iban: "secret-iban" })]);
  return { state: talk.state, events };
}
