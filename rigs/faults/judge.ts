/** Holds what was seen against what is specified, and tells every difference in a sentence. Pure. */
import { STOPS } from "../../src/protocol/stops.ts";
import type { Expected, Fault } from "./fault.ts";
import type { Seen } from "./house.ts";

/** Of the vendors, in the scripts: they may quote anything, so nobody is told them. */
const VENDORS_WORDS = [
  "the vendor's own words",
  "oops",
  "maintenance",
  "capacity reached",
  "upstream reset",
  "cluster load",
  "insufficient balance",
];

export function judge(fault: Fault, seen: Seen): string[] {
  const wrong: string[] = [];
  const is = (what: string, got: unknown, expected: unknown) => {
    if (JSON.stringify(got) !== JSON.stringify(expected))
      wrong.push(`${what}: ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`);
  };
  const within = (what: string, got: number, range: NonNullable<Expected["retryAfterMs"]>) => {
    const [from, to] = typeof range === "number" ? [range, range] : range;
    if (got < from || got > to) wrong.push(`${what}: ${got} instead of ${from} to ${to}`);
  };
  const { expected, runs = 1 } = fault;
  user(fault, seen, is, within);
  log(fault, seen, is);
  const [least, most] =
    typeof expected.requests === "number" ? [expected.requests, expected.requests] : expected.requests;
  within("requests to the provider", seen.requests, [least * runs, most * runs]);
  is("what a strict provider complains of", seen.violations, 0);
  if (expected.backendRequests !== undefined)
    within("requests to the backend", seen.backendRequests, expected.backendRequests);
  if (expected.bookings !== undefined) is("bookings", seen.bookings, expected.bookings);
  booked(fault, seen, is, wrong);
  return wrong;
}

type Is = (what: string, got: unknown, expected: unknown) => void;

function user(
  { expected, runs = 1 }: Fault,
  seen: Seen,
  is: Is,
  within: (what: string, got: number, range: NonNullable<Expected["retryAfterMs"]>) => void,
): void {
  const { run, texts, notices, events, heard } = seen;
  const { ends, text, notice, retryAfterMs, calls } = expected;
  if (ends === "unknown") is("the run waits", [run.status, run.phase], ["interrupted", "awaiting_resolution"]);
  else {
    is("the run's stop", run.stop?.code, ends);
    is("whether it may be tried again", run.stop?.retryable, STOPS[ends].retryable);
    is("how it ends", run.status, STOPS[ends].status);
    if (retryAfterMs === undefined) is("when to come back", run.stop?.retryAfterMs ?? null, null);
    else within("when to come back", run.stop?.retryAfterMs ?? -1, retryAfterMs);
    if (expected.provider) is("the provider's words in the run", run.stop?.provider ?? {}, defined(expected.provider));
    is(
      "one terminal event, the last",
      events.filter(({ type }) => /^run\.(completed|failed|cancelled)$/.test(type)).length,
      1,
    );
  }
  const complete = ends === "final_answer";
  is(
    "what is read of the model",
    texts,
    text === undefined ? [] : [{ status: complete ? "complete" : "incomplete", text }],
  );
  is(
    "sentences of ours",
    notices.map(({ code }) => code),
    notice === undefined ? [] : [notice],
  );
  for (const { en, zh } of notices) is("in both languages", [en !== "", /\p{Script=Han}/u.test(zh)], [true, true]);
  if (calls) is("results of calls", resultsIn(seen), calls);
  if (expected.limit) {
    const trips = events.flatMap((event) => (event.type === "limit.tripped" ? [event.data] : []));
    is(
      "the limit that tripped",
      trips.map(({ limit }) => limit),
      [expected.limit],
    );
    is(
      "with a figure that reaches its bound",
      trips.every(({ figure, bound }) => figure >= bound),
      true,
    );
  }
  is(
    "the vendor's sentences",
    VENDORS_WORDS.filter((words) => heard.includes(words)),
    [],
  );
  if (runs === 1)
    is(
      "attempts that nobody asked for",
      events.filter(({ type }) => type === "step.superseded").length,
      expected.requests === 2 && ends === "model_protocol_error" ? 1 : 0,
    );
}

function resultsIn({ events }: Seen): string[] {
  const results: string[] = [];
  for (const event of events) {
    if (event.type !== "tool_call.finished" && event.type !== "tool_call.refused") continue;
    const { success, error } = event.data.payload;
    results.push(success ? "ok" : (error?.code ?? "none"));
  }
  return results;
}

/** One line for the end, with the provider's status and code and what joins lines; one for each call that failed. */
function log({ expected, runs = 1 }: Fault, { log: lines, run }: Seen, is: Is): void {
  const named = (event: string) => lines.filter((line) => line["event"] === event);
  if (expected.ends === "unknown") is("lines about the doubt", named("tool_unknown").length, 1);
  else {
    const ended = named("run_ended");
    is("lines about the end", ended.length, runs);
    const [line = {}] = ended.filter(({ runId }) => runId === run.id);
    is("the code in the log", line["code"], expected.ends);
    if (expected.provider) is("the provider's words in the log", line["provider"] ?? {}, defined(expected.provider));
    is(
      "what joins lines",
      ["requestId", "traceId", "conversationId", "runId"].filter((name) => typeof line[name] !== "string"),
      [],
    );
  }
  const failures = (expected.calls ?? []).filter((code) => code !== "ok");
  if (expected.calls && runs === 1)
    is(
      "lines about failed calls",
      named("tool_failed").map(({ code }) => code),
      failures,
    );
  if (expected.limit)
    is(
      "lines about the limit",
      named("limit_tripped").map(({ limit }) => limit),
      [expected.limit],
    );
  is(
    "levels",
    lines
      .filter(({ level, event }) => level === "error" && !String(event).endsWith("_threw"))
      .map(({ event }) => event),
    [],
  );
}

function booked({ expected, runs = 1 }: Fault, { run, ledger }: Seen, is: Is, wrong: string[]): void {
  const { inputTokens, outputTokens, estimated } = run.usage;
  is("reservations that stand", ledger.reserved, 0);
  if (runs === 1) is("the ledger and the run", ledger.used, inputTokens + outputTokens);
  switch (expected.booked) {
    case "nothing":
      return is("what is paid", ledger.used, 0);
    case "something":
      if (ledger.used === 0) wrong.push("nothing is paid");
      return;
    case "told":
      return is("whether it is an estimate", estimated, false);
    case "estimated":
      if (ledger.used === 0) wrong.push("nothing is paid");
      return is("whether it is an estimate", estimated, true);
  }
}

const defined = (provider: NonNullable<Expected["provider"]>) => ({
  ...(provider.status === undefined ? {} : { status: provider.status }),
  ...(provider.code === undefined ? {} : { code: provider.code }),
});
