/**
 * Bearer headers of the requests that brought a run, in memory only: a tool that must act as the user may need one.
 * They are gone with the object, and the tool then says `credential_expired`; nothing of them is ever stored.
 */
import type { Command } from "../protocol/commands.ts";
import { runIdOf } from "../protocol/ids.ts";
import type { RequestContext } from "../protocol/principal.ts";
import type { State } from "../run/state.ts";
import { findRun } from "../run/status.ts";

interface Credential {
  readonly header: string;
  readonly expiresAt: number;
}

export class Credentials {
  readonly #byRun = new Map<string, Credential>();

  /** Of the run that this command started; of the starter's own later requests for it. Never an approver's. */
  keep(context: RequestContext, command: Command, runsBefore: number, state: State): void {
    const { authHeader: header, expiresAt, userId } = context;
    if (header === undefined) return;
    const conversationId = state.identity?.conversationId ?? "";
    const started = state.runCount > runsBefore ? runIdOf(conversationId, state.runCount) : null;
    const runId = started ?? ("runId" in command ? command.runId : null);
    const run = runId === null ? null : findRun(state, runId);
    if (run && !run.stop && run.principal.userId === userId) this.#byRun.set(run.id, { header, expiresAt });
    for (const id of this.#byRun.keys()) if (findRun(state, id)?.stop !== null) this.#byRun.delete(id);
  }

  /** @param now epoch ms: one that has expired is none */
  of(runId: string, now: number): string | null {
    const credential = this.#byRun.get(runId);
    return credential && credential.expiresAt > now ? credential.header : null;
  }
}
