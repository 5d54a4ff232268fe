/** Parts that the routes' schemas share. */
import * as z from "zod";
import { ConversationId, RunId } from "../protocol/ids.ts";
import { PlainUserId } from "./claims.ts";

export const ConversationPath = z.object({ id: ConversationId });
export const RunPath = z.object({ id: RunId });
export const ParticipantPath = z.object({ id: ConversationId, userId: PlainUserId });

export const runPath = ({ id }: { readonly id: string }): string => `/v1/runs/${id}`;

/** Problems of every command that takes a key, and of everything that is not everybody's. */
export const keyed = ["idempotency_key_reused", "idempotency_in_progress"] as const;
export const hidden = ["forbidden", "not_found", "gone"] as const;

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), nextCursor: z.string().nullable() });
