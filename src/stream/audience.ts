/** Who of the watchers sees what. The state decides at every broadcast: a place that was taken away ends with it. */
import type { EncodedEvent } from "../actor/ports.ts";
import type { Principal } from "../protocol/principal.ts";
import { seenEvent, sightOf, type Sight } from "../protocol/redaction.ts";
import type { Role } from "../protocol/roles.ts";
import { encodeEvent } from "../protocol/encoded-event.ts";
import { eventFrame } from "./encode-frames.ts";
import { isOperator, roleOf } from "../run/authority.ts";
import { starterOf } from "../run/targets.ts";
import type { State } from "../run/state.ts";

/** An operator without a place reads as an editor, for as long as the hand-over lasts. null: sees nothing. */
export function watchingRole(state: State, principal: Principal): Role | null {
  return roleOf(state, principal) ?? (isOperator(state, principal) ? "editor" : null);
}

/** One event for each kind of watcher: encoded at most once for each, and only if somebody is of that kind. */
export class Shown {
  readonly seq: number;
  readonly #encoded: EncodedEvent;
  readonly #generation: string;
  readonly #starter: string | null;
  readonly #json: { [S in Sight]?: string };
  readonly #frames: { [S in Sight]?: string } = {};

  constructor(encoded: EncodedEvent, state: State) {
    const { event } = encoded;
    this.seq = event.seq;
    this.#encoded = encoded;
    this.#json = { whole: encoded.json };
    this.#generation = state.identity?.generation ?? "";
    this.#starter = event.runId === undefined ? null : starterOf(state, event.runId);
  }

  jsonFor(role: Role, userId: string): string {
    return this.#jsonOf(sightOf(role, userId, this.#starter));
  }

  frameFor(role: Role, userId: string): string {
    const sight = sightOf(role, userId, this.#starter);
    this.#frames[sight] ??= eventFrame(this.#jsonOf(sight), this.#generation, this.seq);
    return this.#frames[sight];
  }

  #jsonOf(sight: Sight): string {
    const known = this.#json[sight];
    if (known !== undefined) return known;
    const { event, json } = this.#encoded;
    const seen = seenEvent(event, sight);
    const shown = seen === event ? json : encodeEvent(seen).json;
    this.#json[sight] = shown;
    return shown;
  }
}
