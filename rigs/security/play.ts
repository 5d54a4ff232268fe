/** Plays one case: sets its stage, measures, sends what is bad, and compares. Says what is wrong; nothing: it passed. */
import { pause } from "../common/figures.ts";
import type { Answer as ModelAnswer } from "../../test/support/answer-script.ts";
import type { Fault } from "../../test/support/backend-faults.ts";
import { caughtUp, measure } from "./absence.ts";
import type { Case, Expect, Request, Socket, Talk, Who } from "./case.ts";
import { fill, type Names } from "./fill.ts";
import { parsed, type Stage } from "./stage.ts";
import { exchange, upgrade, Wire, type Answer } from "./wire.ts";

/** What came back, over all of a case's ways of asking. */
interface Outcome {
  readonly answers: readonly Answer[];
  /** Everything that the sender, or the model, was told. */
  readonly told: string;
  readonly wrong: readonly string[];
}

const CONNECTIONS = 100;

export async function play(stage: Stage, one: Case): Promise<string[]> {
  const names = await namesOf(stage, one);
  for (const before of one.before ?? []) {
    const [answer] = await requested(stage, names, before);
    if (!answer || answer.status > 299) return [`before it: ${answer?.status} ${answer?.text.slice(0, 300)}`];
  }
  if (one.waitMs !== undefined) await pause(one.waitMs);
  if (one.absent.includes("row")) await caughtUp(stage);
  const before = await measure(stage, names, one.absent);
  const outcome = await attempted(stage, names, one);
  const after = await measure(stage, names, one.absent);
  const came = one.absent
    .filter((absence) => before[absence] !== after[absence])
    .map((absence) => `${absence}: ${before[absence]} became ${after[absence]}`);
  return [...outcome.wrong, ...compared(fill(one.expect, names) as Expect, outcome), ...came];
}

async function namesOf(stage: Stage, { stage: wanted, confirmationTtlMs }: Case): Promise<Names> {
  switch (wanted) {
    case "fresh":
    case "alone":
    case "two": {
      const options = {
        alone: wanted !== "fresh",
        two: wanted === "two",
        ...(confirmationTtlMs === undefined ? {} : { confirmationTtlMs }),
      };
      return { ...stage.shared, ...(await stage.waiting(options)) };
    }
    case "done":
      return stage.done;
    case "unknown": {
      const unknown = stage.shared["unknown"] ?? "";
      return { ...stage.shared, conversation: unknown, run: `${unknown}.r1`, call: `${unknown}.r1.t1` };
    }
    default:
      return stage.shared;
  }
}

async function attempted(stage: Stage, names: Names, one: Case): Promise<Outcome> {
  if (one.talk) return talked(stage, names, one.talk, fill(one.expect, names) as Expect);
  if (one.socket) return spoken(stage, names, one.socket, fill(one.expect, names) as Expect);
  const request = one.request as Request;
  const answers = await requested(stage, names, request);
  const told = answers.map(({ headers, text }) => JSON.stringify(headers) + text).join("\n");
  if (one.expect.asUnknown !== true) return { answers, told, wrong: [] };
  const { unknown = "" } = names;
  const nowhere = { ...names, conversation: unknown, run: `${unknown}.r1`, call: `${unknown}.r1.t1` };
  const [other] = await requested(stage, nowhere, request);
  const same = JSON.stringify(bare(answers[0])) === JSON.stringify(bare(other));
  return { answers, told, wrong: same ? [] : [`unlike for what is not there: ${answers[0]?.text} / ${other?.text}`] };
}

/** What may not differ between "not yours" and "not there". */
function bare(answer: Answer | undefined) {
  const { "x-request-id": _, date: __, ...headers } = answer?.headers ?? {};
  return { status: answer?.status, headers, text: (answer?.text ?? "").replace(/"requestId":"[^"]*"/, "") };
}

function requested(stage: Stage, names: Names, request: Request): Promise<Answer[]> {
  const { method, path, headers = {}, json, raw, times = 1, until } = request;
  const body =
    raw === undefined ? (json === undefined ? undefined : JSON.stringify(fill(json, names))) : fill(raw, names);
  const one = () =>
    exchange({
      method,
      url: stage.service.baseUrl + String(fill(path, names)),
      headers: lower({
        ...credential(stage, names, request),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(fill(headers, names) as Record<string, string>),
      }),
      ...(body === undefined ? {} : { body: body as string | Uint8Array }),
    });
  return side(times, one, until);
}

/** So many at a time as a client has connections. */
async function side(times: number, one: () => Promise<Answer>, until?: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  let left = times;
  const connection = async () => {
    while (left-- > 0) {
      const answer = await one();
      answers.push(answer);
      if (answer.status === until) left = 0;
    }
  };
  await Promise.all(Array.from({ length: Math.min(times, CONNECTIONS) }, connection));
  return answers;
}

/** A header set to nothing is not sent. */
const lower = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([, value]) => value !== ""),
  );

function credential(stage: Stage, names: Names, { as = "owner", token }: Pick<Request, "as" | "token">) {
  if (token !== undefined) {
    const forged = fill(token, names) as NonNullable<Request["token"]>;
    const who = as === "nobody" ? "owner" : as;
    return { authorization: `Bearer ${stage.identities.token(forged, stage.identity(who))}` };
  }
  const known = stage.tokens.get(as);
  return known === undefined ? {} : { authorization: `Bearer ${known}` };
}

async function spoken(stage: Stage, names: Names, socket: Socket, expect: Expect): Promise<Outcome> {
  const path = String(fill(socket.path ?? "/v1/conversations/{{conversation}}/stream", names));
  const origin = socket.ticket?.origin;
  const ticket = socket.ticket ? await ticketOf(stage, names, socket.ticket) : null;
  const protocols = ticket === null ? ["holdpoint.v1"] : ["holdpoint.v1", `ticket.${ticket}`];
  const offered = (socket.protocols ?? protocols).map((name) => String(fill(name, { ...names, ticket: ticket ?? "" })));
  const asked = {
    url: stage.service.baseUrl + path,
    headers: lower({
      ...(ticket === null ? credential(stage, names, socket) : {}),
      ...(offered.length === 0 ? {} : { "sec-websocket-protocol": offered.join(", ") }),
      ...(origin === undefined ? {} : { origin: String(fill(origin, names)) }),
      ...(fill(socket.headers ?? {}, names) as Record<string, string>),
    }),
  };
  if (socket.ticket?.used === true) {
    const first = await upgrade(asked);
    if (!(first instanceof Wire)) return refused(first, ["the ticket was no good in the first place"]);
    first.leave();
  }
  const others: Wire[] = [];
  for (let n = 0; n < (socket.others ?? 0); n++) {
    const other = await upgrade(asked);
    if (!(other instanceof Wire)) return refused(other, ["one of those before it was refused"]);
    others.push(other);
  }
  const opened = await upgrade(asked);
  try {
    return opened instanceof Wire ? await conversed(stage, names, opened, socket, expect) : refused(opened);
  } finally {
    for (const one of [...others, opened]) if (one instanceof Wire) one.leave();
  }
}

const refused = (answer: Answer, wrong: string[] = []): Outcome => ({
  answers: [answer],
  told: JSON.stringify(answer.headers) + answer.text,
  wrong,
});

async function conversed(
  stage: Stage,
  names: Names,
  wire: Wire,
  { frames = [], times = 1, meanwhile = [] }: Socket,
  expect: Expect,
): Promise<Outcome> {
  const open: Answer = { status: 101, headers: wire.headers, text: "" };
  const typed = (type: string) => wire.heard.filter((text) => parsed({ text })["type"] === type).length;
  const greeted = await wire.until(() => typed("welcome") > 0 || wire.closed !== null);
  if (!greeted) return { answers: [open], told: "", wrong: ["it was not welcomed"] };
  for (const request of meanwhile) await requested(stage, names, request);
  for (const [at, frame] of frames.entries()) {
    const filled = fill(frame, names);
    const payload = typeof filled === "string" || filled instanceof Uint8Array ? filled : JSON.stringify(filled);
    const answered = () => typed("problem") + typed("ack");
    const had = answered();
    for (let n = at === frames.length - 1 ? times : 1; n > 0 && wire.closed === null; n--) wire.say(payload);
    await wire.until(() => answered() > had || wire.closed !== null);
  }
  if (expect.close !== undefined) await wire.until(() => wire.closed !== null);
  if (expect.problem !== undefined) await wire.until(() => typed("problem") > 0 || wire.closed !== null);
  if (expect.frame !== undefined) await wire.until(() => typed(expect.frame ?? "") > 0 || wire.closed !== null);
  const problems = wire.heard.map((text) => parsed({ text })).filter(({ type }) => type === "problem");
  const last = problems.at(-1)?.["problem"] as { readonly code?: string } | undefined;
  const wrong = [
    ...(expect.problem !== undefined && last?.code !== expect.problem
      ? [`problem ${last?.code}, not ${expect.problem}`]
      : []),
    ...(expect.close !== undefined && wire.closed !== expect.close
      ? [`closed with ${wire.closed}, not ${expect.close}`]
      : []),
    ...(expect.close === undefined && wire.closed !== null ? [`closed with ${wire.closed}`] : []),
    ...(expect.frame !== undefined && typed(expect.frame) === 0 ? [`no ${expect.frame} came`] : []),
  ];
  return { answers: [open], told: [JSON.stringify(wire.headers), ...wire.heard].join("\n"), wrong };
}

async function ticketOf(stage: Stage, names: Names, wanted: NonNullable<Socket["ticket"]>): Promise<string> {
  const conversation = String(fill(wanted.conversation ?? "{{conversation}}", names));
  const origin: Record<string, string> = wanted.origin === undefined ? {} : { origin: stage.shared["origin"] ?? "" };
  const answer = await stage.ask(wanted.of, "POST", `/v1/conversations/${conversation}/tickets`, {}, origin);
  const ticket = String(answer.body["ticket"]);
  return wanted.spoil === true ? `${ticket.slice(0, -4)}AAAA` : ticket;
}

async function talked(stage: Stage, names: Names, talk: Talk, expect: Expect): Promise<Outcome> {
  const { as = "owner", text, model, limits, fault } = talk;
  const who: Who = as;
  const conversation = await stage.scripted(who, fill(model, names) as ModelAnswer[], limits);
  if (fault) stage.backend.fault(fault as unknown as Fault);
  const run = await stage.settled(who, await stage.start(who, conversation, String(fill(text, names))));
  if (fault) stage.backend.fault({ route: String(fault["route"]), mode: "off" });
  const events = await stage.ask(who, "GET", `/v1/runs/${run.id}/events?limit=200`);
  const asked = stage.model.requests(stage.scopeOf(conversation)).map(({ body }) => JSON.stringify(body));
  const told = [events.text, asked.at(-1) ?? ""].join("\n");
  const calls = callsIn(events.body["data"]);
  const wrong = [
    ...(expect.run && run.status !== expect.run.status ? [`the run is ${run.status} (${run.stop?.code})`] : []),
    ...(expect.run?.stop !== undefined && run.stop?.code !== expect.run.stop
      ? [`it stopped for ${run.stop?.code}`]
      : []),
    ...(expect.calls && JSON.stringify(calls) !== JSON.stringify(expect.calls)
      ? [`calls ${JSON.stringify(calls)}`]
      : []),
  ];
  return { answers: [], told, wrong };
}

interface Payload {
  readonly tool: string;
  readonly error?: { readonly code: string };
}

/** Calls that were refused or have ended, in order: with their error, or null. */
function callsIn(events: unknown) {
  const ended = (events as { type: string; data: { payload?: Payload } }[]).filter(({ type }) =>
    ["tool_call.refused", "tool_call.finished"].includes(type),
  );
  return ended.flatMap(({ data: { payload } }) =>
    payload ? [{ tool: payload.tool, code: payload.error?.code ?? null }] : [],
  );
}

function compared(expect: Expect, { answers, told }: Outcome): string[] {
  const wrong: string[] = [];
  const [first] = answers;
  const code = first && parsed(first)["code"];
  const said = first?.text.slice(0, 300) ?? "";
  if (expect.status !== undefined && answers.some(({ status }) => status !== expect.status)) {
    wrong.push(`status ${answers.map(({ status }) => status).join(", ")}, not ${expect.status}: ${said}`);
  }
  if (expect.code !== undefined && code !== expect.code)
    wrong.push(`code ${String(code)}, not ${expect.code}: ${said}`);
  if (expect.statuses) wrong.push(...tallied(expect.statuses, answers));
  for (const [name, pattern] of Object.entries(expect.headers ?? {})) {
    const value = first?.headers[name];
    const fits = pattern === null ? value === undefined : new RegExp(pattern).test(String(value ?? ""));
    if (!fits) wrong.push(`header ${name}: ${String(value)}`);
  }
  for (const text of expect.has ?? []) if (!told.includes(text)) wrong.push(`without ${text}`);
  for (const text of expect.hasNot ?? []) if (told.includes(text)) wrong.push(`with ${text}`);
  // Whatever it was about: a refusal is a problem in form, and nothing fails on our side.
  for (const { status, headers, text } of answers) {
    if (status >= 500 && status !== 503) wrong.push(`${status}: ${text.slice(0, 300)}`);
    const isProblem = headers["content-type"] === "application/problem+json";
    if (status >= 400 && text !== "" && !isProblem)
      wrong.push(`${status} is no problem in form: ${text.slice(0, 200)}`);
  }
  return wrong;
}

/** -1: some. A status that is not named is wrong. */
function tallied(wanted: Readonly<Record<string, number>>, answers: readonly Answer[]): string[] {
  const found: Record<string, number> = {};
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1;
  const fits =
    Object.entries(wanted).every(([status, n]) => (n < 0 ? (found[status] ?? 0) > 0 : found[status] === n)) &&
    Object.keys(found).every((status) => Object.hasOwn(wanted, status));
  return fits ? [] : [`statuses ${JSON.stringify(found)}`];
}
