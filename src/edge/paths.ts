/** Parts that the routes' schemas share. */
import * as z from "zod";
import { ConversationId, RunId } from "../protocol/ids.ts";
import { PlainUserId } from "./claims.ts";

export const ConversationPath = z.object({ id: ConversationId });
export const RunPath = z.object({ id: RunId });
export const ParticipantPath = z.object({ id: ConversationId, userId: PlainUserId });

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), nextCursor: z.string().nullable() });
