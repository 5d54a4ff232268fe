/**
 * How an administrator reaches the objects behind the history: those that it names, and those whose ids the platform has
 * listed, which nothing else here ever addresses. A root: wiring, no decisions.
 */
import type { HistoryObject, RestoreDoor } from "./edge/ports.ts";
import { stubFor } from "./edge/stub-for.ts";
import { readCandidates } from "./history/admin/read-candidates.ts";
import type { RestoreMode } from "./protocol/restore.ts";

export function restoreDoor(env: Pick<Env, "CONVERSATIONS" | "HISTORY">): RestoreDoor {
  const { CONVERSATIONS, HISTORY } = env;
  return {
    candidates: (query) => readCandidates(HISTORY, query),
    async named({ tenantId, conversationId }): Promise<HistoryObject> {
      const stub = await stubFor(env, { id: tenantId }, conversationId);
      return { objectId: stub.id.toString(), restore: (mode) => stub.restore(mode) };
    },
    byId: (objectId) => ({
      objectId,
      // An id of another namespace throws, as an object that cannot be asked does.
      restore: async (mode: RestoreMode) => CONVERSATIONS.get(CONVERSATIONS.idFromString(objectId)).restore(mode),
    }),
  };
}
