/** What goes wrong with tools: the model's calls, the gateway, the network, and loops that do not end by themselves. */
import type { Answer } from "../../test/support/answer-script.ts";
import { OWN, type Expected, type Fault } from "./fault.ts";

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const plan = (name: string, args: unknown): Answer => ({ toolCalls: [{ name, arguments: args }], usage: USAGE });
const DONE: Answer = { text: "Done.", usage: USAGE };
const transfer = (tool: string) => plan(tool, { recipient_id: OWN, amount_cents: 500 });
const lookup = plan("lookup_order", { order_id: OWN });

/**
 * Short where silence is what the fault is about, and yet long enough for the request to arrive at a busy backend, which
 * counts it; else so long that a busy machine makes no silence.
 */
const patience = (mode: string) => ({ maxToolMs: mode === "timeout" ? 3_000 : 60_000 });

/** A call that fails in some way, of which the model is told, and which it leaves at that. */
const told = (
  name: string,
  call: Answer,
  calls: string[],
  more: Partial<Fault> & { readonly see?: Partial<Expected> } = {},
): Fault => {
  const { see, ...fault } = more;
  return {
    name,
    answers: [call, DONE],
    ...fault,
    expected: { ends: "final_answer", text: "Done.", requests: 2, calls, booked: "told", ...see },
  };
};

const acting = (
  name: string,
  tool: string,
  mode: NonNullable<Fault["backend"]>["mode"],
  calls: string[],
  see: Partial<Expected>,
): Fault =>
  told(name, transfer(tool), calls, {
    agrees: true,
    backend: { route: "POST /transfer", mode },
    limits: patience(mode),
    see,
  });

/** Nobody knows what became of it: the run asks a person and the model is not asked again. */
const unknown = (
  name: string,
  tool: string,
  mode: NonNullable<Fault["backend"]>["mode"],
  see: Partial<Expected>,
): Fault => {
  const fault = acting(name, tool, mode, [], see);
  const { text: _, ...expected } = fault.expected;
  return { ...fault, expected: { ...expected, ends: "unknown", requests: 1 } };
};

const read = (
  name: string,
  mode: NonNullable<Fault["backend"]>["mode"],
  calls: string[],
  see: Partial<Expected> = {},
): Fault => told(name, lookup, calls, { backend: { route: "POST /lookup_order", mode }, limits: patience(mode), see });

/** The model does the same for ever; `limit` stops it. */
const loop = (
  name: string,
  otherwise: Answer | readonly Answer[],
  limits: Fault["limits"],
  see: Partial<Expected> & Pick<Expected, "ends" | "requests">,
): Fault => {
  const turns = [otherwise].flat();
  const answers = Array.from({ length: 40 }, (_, n) => turns[n % turns.length] ?? DONE);
  return {
    name,
    answers,
    limits: { maxSteps: 100, maxToolErrors: 100, ...limits },
    expected: { booked: "told", ...see },
  };
};
const failing = (q: string) => plan("always_fail", { q });
const ping = plan("ping", {});

export const toolFaults = (): Fault[] => [
  told("a tool that there is not", plan("no_such_tool", {}), ["unknown_tool"]),
  told("a name out of the prototype", plan("constructor", {}), ["unknown_tool"]),
  told("arguments that are no JSON", plan("lookup_order", '{"order_id": "A'), ["invalid_arguments"]),
  told("arguments that the schema refuses", plan("lookup_order", { order_id: 7 }), ["invalid_arguments"]),
  told("a number beyond what is exact", plan("slow_lookup", '{"ms": 9007199254740993}'), ["invalid_arguments"]),
  told("half a character in the arguments", plan("lookup_order", String.raw`{"order_id":"A-\ud83d"}`), [
    "invalid_arguments",
  ]),
  told("a tool outside the sign-in's scopes", transfer("transfer"), ["scope_missing"], {
    scopes: ["conversations:read", "conversations:write", "usage:read"],
  }),
  read("a read that fails three times", "500", ["INTERNAL"], { backendRequests: 3 }),
  read("a read that the gateway does not let in", "401", ["GATEWAY_UNAUTHORIZED"], { backendRequests: 1 }),
  read("a read that is forbidden", "403", ["GATEWAY_FORBIDDEN"], { backendRequests: 1 }),
  read("a read that gets no answer", "timeout", ["timeout"], { backendRequests: 3 }),
  read("a read whose answers are lost", "commit_then_drop", ["GATEWAY_UNAVAILABLE"], { backendRequests: 3 }),
  read("a read that answers something else", "wrong_shape", ["GATEWAY_BAD_RESPONSE"], { backendRequests: 3 }),
  acting("an act that the gateway does not let in", "transfer", "401", ["GATEWAY_UNAUTHORIZED"], {
    bookings: 0,
    backendRequests: 1,
  }),
  acting("an act that is forbidden", "transfer", "403", ["GATEWAY_FORBIDDEN"], { bookings: 0, backendRequests: 1 }),
  unknown("an act that fails with 500", "transfer", "500", { bookings: 0, backendRequests: 1 }),
  unknown("an act that gets no answer", "transfer", "timeout", { bookings: 0, backendRequests: 1 }),
  unknown("an act that happened, its answer lost", "transfer", "commit_then_drop", { bookings: 1, backendRequests: 1 }),
  unknown("an act that happened, answered with something else", "transfer", "wrong_shape", {
    bookings: 1,
    backendRequests: 1,
  }),
  told("a repeatable act whose first answer was lost", transfer("transfer_idempotent"), ["ok"], {
    agrees: true,
    backend: { route: "POST /transfer", mode: "commit_then_drop", times: 1 },
    see: { bookings: 1, backendRequests: 2 },
  }),
  told("an act that can be asked about, its answer lost", transfer("transfer_probeable"), ["ok"], {
    agrees: true,
    backend: { route: "POST /transfer", mode: "commit_then_drop", times: 1 },
    see: { bookings: 1, backendRequests: 2 },
  }),
  told("an act that can be asked about and never arrived", transfer("transfer_probeable"), ["ok"], {
    agrees: true,
    backend: { route: "POST /transfer", mode: "500", times: 1 },
    see: { bookings: 1, backendRequests: 3 },
  }),
  loop(
    "the same failing call for ever",
    failing("same"),
    {},
    {
      ends: "tool_circuit_open",
      notice: "tool_circuit_open",
      limit: "maxSameFailure",
      requests: 2,
      calls: ["ALWAYS_FAILS", "ALWAYS_FAILS"],
    },
  ),
  loop(
    "the same tool, other arguments, the same failure",
    Array.from({ length: 40 }, (_, n) => failing(`try ${n}`)),
    {},
    {
      ends: "tool_circuit_open",
      notice: "tool_circuit_open",
      limit: "maxSameFailure",
      requests: 3,
      calls: Array<string>(3).fill("ALWAYS_FAILS"),
    },
  ),
  loop(
    "two tools in turn, one of them failing",
    [ping, failing("one"), ping, failing("two")],
    {},
    {
      ends: "tool_circuit_open",
      notice: "tool_circuit_open",
      limit: "maxSameFailure",
      requests: 4,
      calls: ["ok", "ALWAYS_FAILS", "ok", "ALWAYS_FAILS"],
    },
  ),
  loop(
    "calls of tools that there are not",
    Array.from({ length: 40 }, (_, n) => plan(`tool_${n}`, {})),
    { maxToolErrors: 5 },
    {
      ends: "tool_circuit_open",
      notice: "tool_circuit_open",
      limit: "maxToolErrors",
      requests: 5,
      calls: Array<string>(5).fill("unknown_tool"),
    },
  ),
  loop(
    "calls for ever",
    ping,
    { maxSteps: 4 },
    {
      ends: "step_limit",
      notice: "step_limit",
      limit: "maxSteps",
      requests: 4,
      calls: Array<string>(4).fill("ok"),
    },
  ),
  loop(
    "tokens for ever, in one run",
    ping,
    { maxRunTokens: 330 },
    {
      ends: "token_limit",
      notice: "token_limit",
      limit: "maxRunTokens",
      requests: 3,
      calls: Array<string>(3).fill("ok"),
    },
  ),
  {
    ...loop(
      "tokens for ever, in one conversation",
      ping,
      { maxConversationTokens: 220 },
      {
        ends: "token_limit",
        notice: "token_limit",
        limit: "maxConversationTokens",
        requests: 2,
        calls: ["ok", "ok"],
      },
    ),
  },
  loop(
    "time for ever",
    plan("slow_lookup", { ms: 300 }),
    { maxRunMs: 1_000, maxToolMs: 5_000 },
    {
      ends: "deadline_exceeded",
      notice: "deadline_exceeded",
      limit: "maxRunMs",
      requests: [1, 10],
      booked: "something",
    },
  ),
  {
    ...read("a tool that is down for everybody", "500", ["tool_circuit_open"], { backendRequests: [5, 6] }),
    runs: 3,
  },
];
