/**
 * A bad input, as data: who sends what, what it must be answered, and what must not have come of it. The file is
 * `cases.json`; this module says what may stand in it and refuses everything else, so that a slip in the data cannot
 * pass for a case that was checked.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** People of the stage: of the victim's tenant with a place, without one, and of another tenant. */
const Who = z.enum([
  "owner",
  "editor",
  "approver",
  "second",
  "viewer",
  "removed",
  "stranger",
  "foreigner",
  "scopeless",
  "undecided",
  "powerless",
  "flooder",
  "admin",
  "platform",
  "nobody",
]);
export type Who = z.infer<typeof Who>;

/** A token made by hand: members replaced (null: taken out), then signed, then spoilt. Times are seconds from now. */
export const Forged = z.strictObject({
  header: z.record(z.string(), z.unknown()).optional(),
  payload: z.record(z.string(), z.unknown()).optional(),
  /** Added to the payload's times, in seconds from now. */
  times: z.partialRecord(z.enum(["exp", "iat", "nbf"]), z.number()).optional(),
  sign: z
    .enum(["ec", "other-ec", "rsa", "pem-as-secret", "jwk-as-secret", "x-as-secret", "none", "zero", "der"])
    .optional(),
  spoil: z
    .enum(["cut", "padded", "dots", "fourth", "empty-signature", "duplicate-alg", "latin1", "bom", "spaces"])
    .optional(),
  /** Instead of all that. */
  text: z.string().optional(),
});
export type Forged = z.infer<typeof Forged>;

const Headers = z.record(z.string(), z.string());
const Request = z.strictObject({
  as: Who.optional(),
  token: Forged.optional(),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]),
  path: z.string(),
  headers: Headers.optional(),
  json: z.unknown().optional(),
  /** The body as it is; sent as application/json unless the headers say otherwise. */
  raw: z.unknown().optional(),
  /** So often, all at once. */
  times: z.int().positive().max(5_000).optional(),
  /** No more of them once one was answered so: how many a window holds depends on where it begins. */
  until: z.int().optional(),
});
export type Request = z.infer<typeof Request>;

const Socket = z.strictObject({
  as: Who.optional(),
  token: Forged.optional(),
  path: z.string().optional(),
  protocols: z.array(z.string()).optional(),
  headers: Headers.optional(),
  /** With a ticket instead of a token: whose, for which conversation, from which origin. */
  ticket: z
    .strictObject({
      of: Who,
      conversation: z.string().optional(),
      origin: z.string().optional(),
      used: z.boolean().optional(),
      spoil: z.boolean().optional(),
    })
    .optional(),
  /** Sent one after the other, each when the one before was answered. */
  frames: z.array(z.unknown()).optional(),
  /** The last frame so often. */
  times: z.int().positive().max(2_000).optional(),
  /** Opened before it, and kept open. */
  others: z.int().positive().max(50).optional(),
  /** Done while it is open. */
  meanwhile: z.array(Request).optional(),
});
export type Socket = z.infer<typeof Socket>;

/** A message to the lab agent with a scripted model. */
const Talk = z.strictObject({
  as: Who.optional(),
  text: z.string(),
  model: z.array(z.unknown()),
  limits: z.record(z.string(), z.number()).optional(),
  fault: z.record(z.string(), z.unknown()).optional(),
});
export type Talk = z.infer<typeof Talk>;

const Expect = z.strictObject({
  status: z.int().optional(),
  code: z.string().optional(),
  /** Statuses of all of a request that was sent more than once, with how often. */
  statuses: z.record(z.string(), z.int()).optional(),
  /** Headers of the answer that must match; null: must not be there. */
  headers: z.record(z.string(), z.string().nullable()).optional(),
  /** Of a socket: the code of the last problem that it was told. */
  problem: z.string().optional(),
  /** Of a socket: its close code. */
  close: z.int().optional(),
  /** Of a socket: the type of the frame after the greeting. */
  frame: z.string().optional(),
  /** Of a talk: how its run stands in the end, and what became of its calls. */
  run: z.strictObject({ status: z.string(), stop: z.string().optional() }).optional(),
  calls: z.array(z.strictObject({ tool: z.string(), code: z.string().nullable() })).optional(),
  /** Must stand in the answer, or in what the model was told last. */
  has: z.array(z.string()).optional(),
  /** Must stand nowhere in the answer, the events, or what the model was told. */
  hasNot: z.array(z.string()).optional(),
  /** The same answer as for something that is not there, in everything but its request id. */
  asUnknown: z.boolean().optional(),
});
export type Expect = z.infer<typeof Expect>;

/** What must not have come of it: a new event, an entry at the backend, a row in D1, an object with tables of its own, a
 * request for keys beyond the one a minute. */
const Absence = z.enum(["event", "backend", "row", "object", "keys"]);
export type Absence = z.infer<typeof Absence>;

export const Case = z
  .strictObject({
    id: z.string().regex(/^[A-G][0-9]{2}[a-z]{1,2}$/),
    /** Of the threat table in docs/security.md. */
    row: z.int().positive(),
    what: z.string().min(4),
    /** two: what waits needs two people. Absent: the conversation that all share, whose run waits for a decision, with another in the queue behind it. */
    stage: z.enum(["fresh", "alone", "two", "done", "unknown"]).optional(),
    /** Of a stage of its own: how long its confirmations stand. */
    confirmationTtlMs: z.int().positive().optional(),
    /** Must succeed; what comes of these is no matter of the case. */
    before: z.array(Request).optional(),
    waitMs: z.int().positive().max(5_000).optional(),
    request: Request.optional(),
    socket: Socket.optional(),
    talk: Talk.optional(),
    expect: Expect,
    absent: z.array(Absence).min(1),
  })
  .refine((one) => [one.request, one.socket, one.talk].filter((part) => part !== undefined).length === 1, {
    error: "is one of request, socket and talk",
  })
  .refine(
    ({ expect }) => expect.status ?? expect.statuses ?? expect.problem ?? expect.close ?? expect.frame ?? expect.run,
    {
      error: "expects something",
    },
  );
export type Case = z.infer<typeof Case>;

export function readCases(): Case[] {
  const text = readFileSync(join(import.meta.dirname, "cases.json"), "utf8");
  const cases = z.array(Case).parse(JSON.parse(text));
  const ids = new Set(cases.map(({ id }) => id));
  if (ids.size !== cases.length) throw new Error("two cases have one id");
  const letter = new Map<number, string>();
  for (const { id, row } of cases) {
    if (Number(id.slice(1, 3)) !== row) throw new Error(`${id} is not of row ${row}`);
    letter.set(row, id.slice(0, 1));
  }
  return cases;
}
