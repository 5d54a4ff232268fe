/**
 * People who only watch bring nothing that their sign-in could be checked with. So while there is something to tell
 * them, a preview as much as an event, it is asked now and then who of them still counts; whoever does not is closed,
 * whatever else failed to reach this conversation. Nothing waits for the answer, and all are asked about at once: a
 * crowd must not use up the requests that a long run needs.
 */
import type { Principal } from "../protocol/principal.ts";
import type { Sockets } from "./sockets.ts";

export interface RevalidationDeps {
  readonly sockets: Sockets;
  readonly now: () => number;
  readonly everyMs: number;
  /** Learns anew whether these people's sign-ins count. Never rejects. */
  readonly check: (principals: readonly Principal[]) => Promise<unknown>;
  /** All of them have been asked about. */
  readonly checked: () => void;
}

export class Revalidation {
  readonly #deps: RevalidationDeps;
  #last: number;

  constructor(deps: RevalidationDeps) {
    this.#deps = deps;
    this.#last = deps.now();
  }

  /** Called with every broadcast. @returns what is under way; null: it is too early, or nobody watches */
  begin(): Promise<void> | null {
    const { sockets, now, everyMs, check, checked } = this.#deps;
    if (now() - this.#last < everyMs) return null;
    const watching = new Map<string, Principal>();
    for (const { watcher } of sockets.all()) if (watcher) watching.set(watcher.principal.userId, watcher.principal);
    if (watching.size === 0) return null;
    this.#last = now();
    return check([...watching.values()]).then(checked);
  }
}
