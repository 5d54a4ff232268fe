/** Turns a scripted answer into a plan: which bytes go out in which writes, what to wait before each, how it ends. */
import type { Answer, HangAnswer, RawAnswer, StatusAnswer, Writes } from "./answer-script.ts";
import { completionPlan } from "./completion-plan.ts";
import { SSE_HEADERS, inOnePiece, split, type Draft, type Plan, type PlanContext } from "./plan.ts";
import type { StreamFixture } from "./stream-fixtures.ts";

const FOREVER = Number.MAX_SAFE_INTEGER;
export function planAnswer(answer: Answer, context: PlanContext): Plan {
  const plan = { ...draft(answer, context), waitMs: answer.waitMs ?? 0 };
  return "destroyAfterBytes" in answer || "destroyAfterWrites" in answer
    ? cutShort(plan, answer.destroyAfterBytes, answer.destroyAfterWrites)
    : plan;
}

function draft(answer: Answer, context: PlanContext): Draft {
  if ("fixture" in answer) return fixturePlan(context.fixtures.get(answer.fixture), answer.writes);
  if ("raw" in answer) return rawPlan(answer);
  if ("toolCalls" in answer || "text" in answer) return completionPlan(answer, context);
  return "hang" in answer ? hangPlan(answer) : statusPlan(answer);
}

function fixturePlan(fixture: StreamFixture, writes: Writes | undefined): Draft {
  return {
    kind: "fixture",
    name: fixture.name,
    status: fixture.http_status,
    headers: fixture.headers,
    ...split(fixture.bytes, fixture.split_at, fixture.delays_ms, writes),
    end: fixture.end,
  };
}

function rawPlan(answer: RawAnswer): Draft {
  const bytes = Buffer.from(answer.raw, answer.encoding ?? "utf8");
  const splitAt = answer.splitAt ?? [];
  const delays = answer.delaysMs ?? Array.from({ length: splitAt.length + 1 }, () => 0);
  return {
    kind: "raw",
    status: answer.status ?? 200,
    headers: answer.headers ?? SSE_HEADERS,
    ...split(bytes, splitAt, delays, answer.writes),
    end: answer.end ?? { mode: "close" },
  };
}

function hangPlan(answer: HangAnswer): Draft {
  const headers = answer.hang === "headers";
  const end = { mode: "hang", headers, ms: answer.ms ?? FOREVER } as const;
  return { kind: "hang", status: headers ? 200 : null, headers: SSE_HEADERS, writes: [], delays: [], end };
}

function statusPlan({ status, headers = {}, body }: StatusAnswer): Draft {
  if (status === 204 || status === 304) {
    return { kind: "status", status, headers, writes: [], delays: [], end: { mode: "close" } };
  }
  const type = status === 429 ? "rate_limit_error" : "server_error";
  const otherwise = { error: { message: `scripted ${status}`, type, param: null, code: null } };
  const text = typeof body === "string" ? body : JSON.stringify(body ?? otherwise);
  const contentType = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  return { kind: "status", ...inOnePiece(Buffer.from(text, "utf8"), contentType, headers), status };
}

/** What is beyond is never sent, and the socket is cut there. */
function cutShort(plan: Plan, bytes = Infinity, count = plan.writes.length): Plan {
  const writes: Uint8Array[] = [];
  let left = bytes;
  for (const write of plan.writes.slice(0, count)) {
    if (left <= 0) break;
    writes.push(write.subarray(0, left));
    left -= write.length;
  }
  return { ...plan, writes, end: { mode: "destroy" } };
}
