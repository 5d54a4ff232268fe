/**
 * The history brought back from the actors, for a platform's administrator. Whose conversations they are is said by the
 * actors: an object is addressed by the platform's id here and nowhere else, and no content is shown.
 */
import * as z from "zod";
import { ConversationId } from "../protocol/ids.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { Restored, RestoreOrder, type RestoredObject, type RestoreMode } from "../protocol/restore.ts";
import { SCOPES } from "../protocol/roles.ts";
import type { HistoryCandidate, HistoryObject, RestoreDoor } from "./ports.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NONE, ok, userRoute, type EdgeServices, type Route } from "./route.ts";

/** Conversations that the history names, in one answer. */
const PAGE = 20;
const AT_ONCE = 6;
const BINDING = ["history/restore"];
const Position = z.object({ tenantId: z.string(), conversationId: ConversationId });

export const restoreRoute = (door: RestoreDoor): Route =>
  userRoute({
    method: "POST",
    path: "/v1/admin/history/restore",
    summary: "Bring the history back from the actors, or look how far it is behind, and what it does not take.",
    scope: SCOPES.platformAdmin,
    auditReason: true,
    params: NONE,
    query: NONE,
    body: RestoreOrder,
    bodyUse: "required",
    bodyExample: EXAMPLES.restoreOrder,
    // Twice is once: there is nothing that a key would keep from happening again.
    key: "accepted",
    answers: {
      200: { description: "What each object says of itself.", schema: Restored, example: EXAMPLES.restored },
    },
    problems: ["cursor_invalid", "history_unavailable"],
    handle: async ({ context, body, reason }, edge) => {
      const { userId, tenantId, requestId } = context;
      const { mode, objectIds, cursor } = body;
      const target = objectIds === undefined ? "all" : `${objectIds.length} objects`;
      const operation = `restore_history (${mode})`;
      edge.log.warn("administrator_acted", { requestId, userId, tenantId, operation, target, reason });
      const crossing = { operator: `${tenantId}/${userId}`, reason };
      const page = objectIds
        ? { objects: objectIds.map((id) => door.byId(id)), next: null }
        : await named(door, edge, crossing, cursor);
      if ("ok" in page) return page;
      const data = await inTurn(page.objects, (object) => accountOf(object, mode, edge, requestId));
      return ok(200, { data, nextCursor: page.next });
    },
  });

interface Page {
  readonly objects: readonly HistoryObject[];
  readonly next: string | null;
}

async function named(
  door: RestoreDoor,
  edge: EdgeServices,
  crossing: { readonly operator: string; readonly reason: string },
  cursor: string | undefined,
): Promise<Page | Extract<Result<never>, { ok: false }>> {
  let after: HistoryCandidate | undefined;
  if (cursor !== undefined) {
    const opened = await edge.cursors.open(cursor, BINDING);
    if (!opened.ok) return opened;
    after = Position.parse(JSON.parse(opened.value));
  }
  try {
    const found = await door.candidates({ ...crossing, limit: PAGE, ...(after ? { after } : {}) });
    const last = found.at(-1);
    const next = found.length === PAGE && last ? await edge.cursors.seal(JSON.stringify(last), BINDING) : null;
    return { objects: await Promise.all(found.map((candidate) => door.named(candidate))), next };
  } catch (error) {
    edge.log.error("history_unreadable", error, {});
    const detail = "The history cannot be read now.";
    return { ok: false, rejection: reject("history_unavailable", detail, { retryAfterMs: 5_000 }) };
  }
}

async function accountOf(
  { objectId, restore }: HistoryObject,
  mode: RestoreMode,
  edge: EdgeServices,
  requestId: string,
): Promise<RestoredObject> {
  try {
    return { objectId, account: await restore(mode) };
  } catch (error) {
    edge.log.error("history_not_restored", error, { requestId, objectId });
    return { objectId, account: { kind: "unreachable" } };
  }
}

/** In the order given, a few at a time: each wakes an object. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}
