/** What the actor answers from its own memory and log. Every read asks first what this principal may see. */
import type { Conversation } from "../protocol/conversation.ts";
import { cursorOf, parseCursor } from "../protocol/cursor.ts";
import type { Event } from "../protocol/events.ts";
import { numberOf } from "../protocol/ids.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Message } from "../protocol/message.ts";
import type { Principal } from "../protocol/principal.ts";
import { reject, type Rejection, type Result } from "../protocol/problems.ts";
import { seenConversation, seenEvent, seenRun, sightOf } from "../protocol/redaction.ts";
import type { Role } from "../protocol/roles.ts";
import type { EventQuery, MessageQuery, Page, RunQuery } from "../protocol/rpc.ts";
import type { Run } from "../protocol/run.ts";
import { checkVisible, NOT_FOUND, roleOf } from "../run/authority.ts";
import { findRun } from "../run/status.ts";
import { starterOf } from "../run/targets.ts";
import type { State } from "../run/state.ts";
import { conversationView, runView } from "../run/views.ts";
import type { Journal } from "./ports.ts";

const refuse = (rejection: Rejection): Result<never> => ({ ok: false, rejection });
const answer = <T>(value: T): Result<T> => ({ ok: true, value });

/** An operator without a place of his own reads as an editor would: he is to answer in it. */
export const readingRole = (state: State, principal: Principal): Role => roleOf(state, principal) ?? "editor";

export class Reads {
  readonly #journal: Journal;
  readonly #state: () => State;

  constructor(journal: Journal, state: () => State) {
    this.#journal = journal;
    this.#state = state;
  }

  snapshot(principal: Principal): Result<Conversation> {
    return this.#visible(principal, (state, role) =>
      answer(seenConversation(conversationView(state, role), role, principal.userId)),
    );
  }

  run(principal: Principal, runId: string): Result<Run> {
    return this.#visible(principal, (state, role) => {
      const held = findRun(state, runId);
      const view = held ? runView(state, held) : this.#journal.endedRun(runId);
      return view ? answer(seenRun(view, role, principal.userId)) : refuse(NOT_FOUND);
    });
  }

  /** Newest first: what is queued and active, then what has ended. */
  runs(principal: Principal, { before, limit }: RunQuery): Result<Page<Run>> {
    return this.#visible(principal, (state, role) => {
      const first = before ?? Number.MAX_SAFE_INTEGER;
      const living = [...(state.active ? [state.active] : []), ...state.queue]
        .filter(({ n }) => n < first)
        .map((run) => runView(state, run));
      const ended = this.#journal.endedRuns({ before: first, limit: limit + 1 });
      const all = [...living, ...ended].toSorted((a, b) => numberOf(b.id) - numberOf(a.id));
      const data = all.slice(0, limit).map((run) => seenRun(run, role, principal.userId));
      const last = data.at(-1);
      return answer({ data, nextCursor: all.length > limit && last ? String(numberOf(last.id)) : null });
    });
  }

  messages(principal: Principal, query: MessageQuery): Result<Page<Message>> {
    return this.#visible(principal, () => answer(this.#journal.messages(query)));
  }

  events(principal: Principal, { after, limit, runId }: EventQuery): Result<Page<Event>> {
    return this.#visible(principal, (state, role) => {
      const generation = state.identity?.generation ?? "";
      const position = after === undefined ? { generation, seq: 0 } : parseCursor(after);
      if (!position || position.generation !== generation || position.seq > state.seq) {
        return refuse(reject("cursor_invalid", "This cursor is not one of this conversation."));
      }
      const bounds = { after: position.seq, limit, maxBytes: LIMITS.catchUpBytes };
      const page = this.#journal.events({ ...bounds, ...(runId === undefined ? {} : { runId }) });
      const starter = (event: Event) => (event.runId === undefined ? null : starterOf(state, event.runId));
      const data = page.map(({ event }) => seenEvent(event, sightOf(role, principal.userId, starter(event))));
      const last = page.at(-1)?.event.seq ?? state.seq;
      // A page may also end at its bound in bytes, which a count does not show.
      const more = page.length === limit || (last < state.seq && page.length > 0);
      return answer({ data, nextCursor: more ? cursorOf(generation, last) : null });
    });
  }

  #visible<T>(principal: Principal, read: (state: State, role: Role) => Result<T>): Result<T> {
    const state = this.#state();
    const hidden = checkVisible(state, principal);
    return hidden ? refuse(hidden) : read(state, readingRole(state, principal));
  }
}
