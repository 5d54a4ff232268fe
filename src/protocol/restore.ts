/** Bringing the history back from the actors: what an administrator orders, and what each object says of itself. */
import * as z from "zod";
import { ConversationId } from "./ids.ts";

/**
 * `look`: changes nothing. `bring`: brings what the history lacks. `anew`: takes away what the history has of the
 * conversation, and brings all of it again.
 */
export const RestoreMode = z.enum(["look", "bring", "anew"]);
export type RestoreMode = z.infer<typeof RestoreMode>;

/** The platform's id of an object. */
export const ObjectId = z.string().regex(/^[0-9a-f]{64}$/);

export const RESTORE_OBJECTS = 50;

export const RestoreOrder = z.strictObject({
  mode: RestoreMode,
  /** Absent: of the conversations that the history names. */
  objectIds: z.array(ObjectId).min(1).max(RESTORE_OBJECTS).optional(),
  /** The `nextCursor` of the answer before. */
  cursor: z.string().max(1_000).optional(),
});
export type RestoreOrder = z.infer<typeof RestoreOrder>;

const Parked = z.object({ seq: z.int(), reason: z.string(), attempts: z.int() });

/** `empty`: nothing was ever written there. `erased`: only its tombstone is left. */
export const HistoryAccount = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("conversation"),
    tenantId: z.string(),
    conversationId: ConversationId,
    /** The last event of the log. */
    head: z.int(),
    /** Up to where the history had it before, and has it now; 0: not at all. */
    stood: z.int(),
    stands: z.int(),
    /** Age of the oldest event that the history still lacks. */
    lagMs: z.int(),
    /** Events that the history does not take; the others go on without them. */
    parked: z.array(Parked),
  }),
  z.object({ kind: z.literal("empty") }),
  z.object({ kind: z.literal("erased") }),
]);
export type HistoryAccount = z.infer<typeof HistoryAccount>;

/** `unreachable`: it could not be asked, or the history could not; to be asked again. */
const Unreachable = z.object({ kind: z.literal("unreachable") });

export const RestoredObject = z.object({
  objectId: ObjectId,
  account: z.union([HistoryAccount, Unreachable]),
});
export type RestoredObject = z.infer<typeof RestoredObject>;

export const Restored = z.object({ data: z.array(RestoredObject), nextCursor: z.string().nullable() });
export type Restored = z.infer<typeof Restored>;
