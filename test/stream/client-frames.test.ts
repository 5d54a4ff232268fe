import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { commandOf, parseClientFrame } from "../../src/stream/client-frames.ts";
import { CONVERSATION, RUN } from "../storage/talk.ts";

const DIGEST = "d".repeat(43);
const CALL = `${RUN}.t1`;
const start = { type: "start_run", id: "1", idempotencyKey: "k", input: { text: "hi" } };
const approve = { toolCallId: CALL, argsDigest: DIGEST, decision: "approve" };
const parse = (frame: unknown) => parseClientFrame(JSON.stringify(frame));

function problem(frame: unknown) {
  const parsed = typeof frame === "string" ? parseClientFrame(frame) : parse(frame);
  if (parsed.ok || !("rejection" in parsed)) throw new Error("no problem");
  return {
    id: parsed.id,
    code: parsed.rejection.code,
    pointers: parsed.rejection.errors?.map(({ pointer }) => pointer),
  };
}

describe("a frame", () => {
  test("becomes the command that REST would make of the same body", () => {
    const frames = [
      [start, { type: "start_run", body: { input: { text: "hi" } } }],
      [
        { type: "resume", id: "2", runId: RUN, decisions: [approve], idempotencyKey: "k" },
        { type: "resume", runId: RUN, body: { decisions: [approve] } },
      ],
      [
        { type: "cancel_run", id: "3", runId: RUN, reason: "enough" },
        { type: "cancel_run", runId: RUN, body: { reason: "enough" } },
      ],
    ] as const;
    for (const [frame, command] of frames) {
      const parsed = parse(frame);
      if (!parsed.ok || parsed.frame.type === "refresh") throw new Error("refused");
      expect(commandOf(parsed.frame)).toEqual(command);
    }
  });

  test("may bring a new ticket", () => {
    expect(parse({ type: "refresh", id: "4", ticket: "t" })).toMatchObject({ ok: true, frame: { type: "refresh" } });
  });

  test("with a member that nobody knows is refused with a pointer to it, and names the frame", () => {
    expect(problem({ ...start, userId: "mallory" })).toEqual({
      id: "1",
      code: "invalid_request",
      pointers: ["/userId"],
    });
    expect(problem({ ...start, input: { text: "hi", user_id: "m" } }).pointers).toEqual(["/input/user_id"]);
    expect(
      problem({ type: "resume", id: "2", runId: RUN, decisions: [{ ...approve, role: "owner" }] }).pointers,
    ).toEqual(["/decisions/0/role"]);
  });

  test("that lacks what it needs is refused", () => {
    const { idempotencyKey: _, ...keyless } = start;
    expect(problem(keyless).pointers).toEqual(["/idempotencyKey"]);
    expect(problem({ type: "resume", id: "2", runId: RUN }).code).toBe("invalid_request");
    expect(problem({ type: "resume", id: "2", runId: RUN, decisions: [{ ...approve, args: {} }] }).pointers).toEqual([
      "/decisions/0/args",
    ]);
    expect(problem({ type: "cancel_run", id: "2", runId: `${CONVERSATION}.x1` }).pointers).toEqual(["/runId"]);
    expect(problem({ type: "delete_everything", id: "9" })).toMatchObject({ id: "9", pointers: ["/type"] });
  });

  test("that is not an object, not JSON or not text is refused, and never throws", () => {
    for (const frame of [null, 1, "x", [], [start], true])
      expect(problem(frame === "x" ? '"x"' : frame).code).toBe("invalid_request");
    for (const text of ["", "{", "hello", "{'a':1}", '{"a":1}{"b":2}', "\u0000"]) {
      expect(problem(text).code).toBe("malformed_json");
    }
    expect(parseClientFrame(new ArrayBuffer(8))).toMatchObject({ ok: false, rejection: { code: "invalid_request" } });
  });

  test("over the bound closes the socket, one at the bound does not", () => {
    const text = JSON.stringify(start);
    expect(parseClientFrame(text + " ".repeat(LIMITS.frameBytes - text.length)).ok).toBe(true);
    const big = { ok: false, close: 1009 };
    expect(parseClientFrame(text + " ".repeat(LIMITS.frameBytes - text.length + 1))).toMatchObject(big);
    expect(parseClientFrame("中".repeat(LIMITS.frameBytes / 2))).toMatchObject(big);
    expect(parseClientFrame(new ArrayBuffer(LIMITS.frameBytes + 1))).toMatchObject(big);
  });

  test("nested too deeply, with too many members or with a forged prototype is refused", () => {
    const deep = `{"type":"start_run","id":"1","input":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
    expect(problem(deep)).toMatchObject({ id: "1", code: "invalid_request" });
    const wide = { ...start, metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, ""])) };
    expect(problem(wide).code).toBe("invalid_request");
    expect(problem('{"type":"cancel_run","id":"1","__proto__":{"runId":"x"}}').code).toBe("invalid_request");
    expect(({} as Record<string, unknown>)["runId"]).toBeUndefined();
  });

  test("that names a member twice is refused, whichever of the two would have counted", () => {
    const twice = `{"type":"resume","id":"1","runId":"${RUN}","decisions":[{"toolCallId":"${CALL}","argsDigest":"${DIGEST}","decision":"reject","decision":"approve"}]}`;
    expect(problem(twice)).toEqual({ id: "1", code: "invalid_request", pointers: [""] });
  });

  test("with half a surrogate pair is refused: no later request could carry it", () => {
    expect(problem('{"type":"start_run","id":"1","idempotencyKey":"k","input":{"text":"\\ud83d"}}').pointers).toEqual([
      "/input/text",
    ]);
  });

  test("of any JSON at all is answered, never thrown on", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const parsed = parseClientFrame(text);
        expect(parsed.ok).toBe(false);
      }),
    );
  });
});
