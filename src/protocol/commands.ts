/** What clients may ask, the same for REST bodies and WebSocket frames. Strict: an unknown member is refused. */
import * as z from "zod";
import { Digest, IdempotencyKey, RunId, ToolCallId, UserId } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import { Role } from "./roles.ts";
import { LimitName, Metadata, PartialLimits, RunInput } from "./run.ts";
import { boundedText } from "./text.ts";
import { ResolutionKind } from "./tool-call.ts";

const Title = boundedText(LIMITS.titleChars * 4).refine(
  (text) => text.trim().length > 0 && text.length <= LIMITS.titleChars,
  {
    error: `must have 1 to ${LIMITS.titleChars} characters`,
  },
);
const Reason = boundedText(LIMITS.reasonChars * 4);
const JsonObject = z.record(z.string(), z.unknown());

export const CreateConversation = z.strictObject({
  agent: z.string().min(1).max(64),
  title: Title.optional(),
  metadata: Metadata.optional(),
});
export const UpdateConversation = z
  .strictObject({ title: Title.optional(), archived: z.boolean().optional() })
  .refine((body) => body.title !== undefined || body.archived !== undefined, { error: "nothing to change" });
export const PutParticipant = z.strictObject({ role: Role });

export const WhenBusy = z.enum(["enqueue", "reject", "replace"]);
export type WhenBusy = z.infer<typeof WhenBusy>;
export const StartRun = z.strictObject({
  input: RunInput,
  whenBusy: WhenBusy.optional(),
  limits: PartialLimits.optional(),
  metadata: Metadata.optional(),
});
export type StartRun = z.infer<typeof StartRun>;
export const EditRun = z.strictObject({ input: RunInput });

export const Decision = z
  .strictObject({
    toolCallId: ToolCallId,
    argsDigest: Digest,
    decision: z.enum(["approve", "edit", "reject"]),
    args: JsonObject.optional(),
    reason: Reason.optional(),
  })
  .refine((decision) => (decision.decision === "edit") === (decision.args !== undefined), {
    error: "args belong to edit, and edit needs them",
    path: ["args"],
  });
export type Decision = z.infer<typeof Decision>;
export const ResolutionRequest = z
  .strictObject({
    toolCallId: ToolCallId,
    outcome: ResolutionKind,
    argsDigest: Digest.optional(),
    /** Which attempt is spoken of. `did_not_happen` needs it once somebody has said that of an earlier one. */
    attempt: z.int().positive().optional(),
    result: z.unknown().optional(),
  })
  .refine((resolution) => resolution.outcome !== "did_not_happen" || resolution.argsDigest !== undefined, {
    error: "did_not_happen is a fresh approval: argsDigest is required",
    path: ["argsDigest"],
  })
  .refine((resolution) => resolution.result === undefined || resolution.outcome === "happened", {
    error: "result belongs to happened",
    path: ["result"],
  });
export type ResolutionRequest = z.infer<typeof ResolutionRequest>;
export const Continuation = z.strictObject({ limit: LimitName, decision: z.enum(["continue", "stop"]) });
export type Continuation = z.infer<typeof Continuation>;

const list = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(LIMITS.decisionsPerRequest).optional();
const resumeShape = {
  decisions: list(Decision),
  resolutions: list(ResolutionRequest),
  continuations: list(Continuation),
};
const oneOf = (body: { decisions?: unknown; resolutions?: unknown; continuations?: unknown }) =>
  body.decisions !== undefined || body.resolutions !== undefined || body.continuations !== undefined;
export const ResumeRun = z.strictObject(resumeShape).refine(oneOf, { error: "nothing to answer" });
export type ResumeRun = z.infer<typeof ResumeRun>;
export const CancelRun = z.strictObject({ reason: Reason.optional() });
export const RetryRun = z.strictObject({});
export const HandoverMessage = z.strictObject({ text: RunInput.shape.text });

const framed = { id: z.string().min(1).max(64), idempotencyKey: IdempotencyKey.optional() };
/** Client frames: members flat as in the REST body. */
export const ClientFrame = z.discriminatedUnion("type", [
  z.strictObject({ ...framed, type: z.literal("start_run"), idempotencyKey: IdempotencyKey, ...StartRun.shape }),
  z.strictObject({ ...framed, type: z.literal("resume"), runId: RunId, ...resumeShape }),
  z.strictObject({ ...framed, type: z.literal("cancel_run"), runId: RunId, ...CancelRun.shape }),
  z.strictObject({ ...framed, type: z.literal("refresh"), ticket: z.string().min(1).max(4_096) }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

/** A command as an actor gets it: validated, with its target. `body` is what the idempotency digest covers. */
export type Command =
  | { readonly type: "create_conversation"; readonly body: z.infer<typeof CreateConversation> }
  | { readonly type: "update_conversation"; readonly body: z.infer<typeof UpdateConversation> }
  | { readonly type: "delete_conversation"; readonly body: Record<string, never> }
  | { readonly type: "put_participant"; readonly userId: string; readonly body: z.infer<typeof PutParticipant> }
  | { readonly type: "remove_participant"; readonly userId: string; readonly body: Record<string, never> }
  | { readonly type: "start_run"; readonly body: StartRun }
  | { readonly type: "edit_run"; readonly runId: string; readonly body: z.infer<typeof EditRun> }
  | { readonly type: "drop_run"; readonly runId: string; readonly body: Record<string, never> }
  | { readonly type: "resume"; readonly runId: string; readonly body: ResumeRun }
  | { readonly type: "cancel_run"; readonly runId: string; readonly body: z.infer<typeof CancelRun> }
  | { readonly type: "retry_run"; readonly runId: string; readonly body: z.infer<typeof RetryRun> }
  | { readonly type: "take_over"; readonly body: Record<string, never> }
  | { readonly type: "say_as_operator"; readonly body: z.infer<typeof HandoverMessage> }
  | { readonly type: "release_handover"; readonly body: Record<string, never> };
export type CommandType = Command["type"];
export const UserIdParam = UserId;
