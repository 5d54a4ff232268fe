/** Ends objects where a test has said so. The test and the object share an isolate, and through it this book. */
import { evolveCall, proposedCall } from "../../src/run/evolve-call.ts";
import type { CallState } from "../../src/run/state.ts";
import { durableDatabase } from "../../src/storage/durable-journal.ts";
import { readEvents } from "../../src/storage/event-log.ts";
import { KILLED } from "../worker/harness/life.ts";
import type { Arm, Point, Standing } from "./points.ts";

/** One conversation that is looked at, and where in it somebody is to die next. */
export interface Subject {
  readonly conversationId: string;
  readonly objectId: string;
  /** What its requests to the provider and to the backend can be told by. */
  readonly scope: string;
  readonly userId: string;
  /** The call whose standing counts. */
  callId: string;
  /** null: nobody dies, and the visits are written down. */
  arm: Arm | null;
  /** Pairs of point and standing. */
  readonly visited: Set<string>;
  /** How many lives of the object began. */
  lives: number;
  hit: boolean;
}

const subjects = new Map<string, Subject>();
const fuses = new Map<string, Fuse>();

export function watch(subject: Subject): void {
  subjects.set(subject.objectId, subject);
}

export function forget({ objectId }: Subject): void {
  subjects.delete(objectId);
  fuses.delete(objectId);
}

/** Of the object whose request this is, by what only its requests name. */
export function fuseOf(find: (subject: Subject) => boolean): Fuse | undefined {
  const subject = [...subjects.values()].find(find);
  return subject && fuses.get(subject.objectId);
}

export class Fuse {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    const id = ctx.id.toString();
    fuses.set(id, this);
    const subject = subjects.get(id);
    if (subject) subject.lives += 1;
  }

  at(point: Point): void {
    const subject = subjects.get(this.#ctx.id.toString());
    if (!subject) return;
    const { arm } = subject;
    if (arm && (subject.hit || arm.point !== point)) return;
    const standing = this.#standing(subject);
    if (!arm) subject.visited.add(`${point} × ${standing}`);
    if (arm?.standing !== standing) return;
    subject.hit = true;
    switch (arm.death) {
      case "lost":
        return this.#ctx.abort(KILLED);
      case "kept":
        return void this.#ctx.storage
          .sync()
          .then(() => this.#ctx.abort(KILLED))
          .catch(() => undefined);
      case "evicted":
        // Only the test can do that, and waits for it.
        return;
    }
  }

  /** As the rows have it at this instant, those of an open transaction included. */
  #standing({ conversationId, callId }: Subject): Standing {
    let found: CallState | null = null;
    try {
      const db = durableDatabase(this.#ctx.storage);
      const query = { after: 0, limit: 1_000, maxBytes: 1 << 24, runId: callId.slice(0, callId.lastIndexOf(".")) };
      for (const { event } of readEvents(db, conversationId, query)) {
        if (!("toolCallId" in event.data) || event.data.toolCallId !== callId) continue;
        if (event.type === "tool_call.refused") return "refused";
        if (event.type === "tool_call.proposed") found = proposedCall(event);
        else if (found) found = evolveCall(found, event, 0);
      }
    } catch {
      // An object without tables.
    }
    return found?.state ?? "none";
  }
}
