/**
 * What a client says on its socket, checked: size, JSON, depth, shape. A malformed frame is answered with a problem and
 * the socket stays; only one that is too big closes it, because by then it has cost what the bound protects.
 */
import { ClientFrame, ResumeRun, type Command } from "../protocol/commands.ts";
import { CLOSE } from "../protocol/frames.ts";
import { readClientJson } from "../protocol/json-bounds.ts";
import { LIMITS } from "../protocol/limits.ts";
import { reject, type Rejection } from "../protocol/problems.ts";
import { fieldErrors } from "../protocol/schema-errors.ts";
import { utf8Bytes } from "../protocol/text.ts";

export type Inbound =
  | { readonly ok: true; readonly frame: ClientFrame }
  /** `id`: the frame's own, where it could be read. */
  | { readonly ok: false; readonly rejection: Rejection; readonly id?: string }
  | { readonly ok: false; readonly close: number; readonly reason: string };

export function parseClientFrame(message: string | ArrayBuffer): Inbound {
  const bytes = typeof message === "string" ? sizeOf(message) : message.byteLength;
  if (bytes > LIMITS.frameBytes) {
    return { ok: false, close: CLOSE.too_big, reason: `a frame has at most ${LIMITS.frameBytes} bytes` };
  }
  if (typeof message !== "string") return refused(reject("invalid_request", "Frames are text, not binary."));
  const read = readClientJson(message);
  if (read.kind === "malformed") return refused(reject("malformed_json", "The frame is not JSON."));
  const { value } = read;
  const id = idIn(value);
  if (read.kind === "outside") return refused(invalid([read.error]), id);
  const parsed = ClientFrame.safeParse(value);
  if (!parsed.success) return refused(invalid(fieldErrors(parsed.error)), id);
  const frame = parsed.data;
  if (frame.type === "resume") {
    // What REST refuses with its body's schema; the frame's own schema cannot say it, being flat.
    const body = ResumeRun.safeParse(commandOf(frame).body);
    if (!body.success) return refused(invalid(fieldErrors(body.error)), id);
  }
  return { ok: true, frame };
}

export type CommandFrame = Exclude<ClientFrame, { type: "refresh" }>;

/** The command of a frame, with the very body that REST would have: both have one idempotency digest. */
export function commandOf(frame: CommandFrame): Command {
  switch (frame.type) {
    case "start_run": {
      const { type, id: _, idempotencyKey: __, ...body } = frame;
      return { type, body };
    }
    case "resume": {
      const { type, id: _, idempotencyKey: __, runId, ...body } = frame;
      return { type, runId, body };
    }
    case "cancel_run": {
      const { type, id: _, idempotencyKey: __, runId, ...body } = frame;
      return { type, runId, body };
    }
  }
}

function refused(rejection: Rejection, id?: string): Inbound {
  return { ok: false, rejection, ...(id === undefined ? {} : { id }) };
}

const invalid = (errors: NonNullable<Rejection["errors"]>): Rejection =>
  reject("invalid_request", "The frame is not one that this service takes.", { errors });

/** UTF-16 units are never more than bytes, so an oversize text is found without counting. */
const sizeOf = (text: string): number => (text.length > LIMITS.frameBytes ? text.length : utf8Bytes(text));

function idIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  const { id } = value;
  return typeof id === "string" && id.length > 0 && id.length <= 64 && id.isWellFormed() ? id : undefined;
}
