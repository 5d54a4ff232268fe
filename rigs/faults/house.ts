/**
 * Plays one fault against the running service, in a tenant of its own, and gathers what the user, the log, the provider
 * and the ledgers saw. It judges nothing.
 */
import { readFileSync } from "node:fs";
import { HoldpointClient } from "../../src/client/client.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Run } from "../../src/protocol/run.ts";
import type { FakeBackend } from "../../test/support/fake-backend.ts";
import type { FakeProvider } from "../../test/support/fake-provider.ts";
import { pause } from "../common/figures.ts";
import { OWN, type Fault } from "./fault.ts";

export interface House {
  readonly baseUrl: string;
  readonly provider: FakeProvider;
  readonly backend: FakeBackend;
  /** Where the service writes its log. */
  readonly log: string;
}

export interface Seen {
  readonly run: Run;
  readonly events: readonly Event[];
  /** What people read of the assistant: text and its mark, and sentences of ours in both languages. */
  readonly texts: readonly { readonly text: string; readonly status: string }[];
  readonly notices: readonly { readonly code: string; readonly en: string; readonly zh: string }[];
  readonly log: readonly Readonly<Record<string, unknown>>[];
  readonly requests: number;
  readonly violations: number;
  readonly backendRequests: number;
  readonly bookings: number;
  readonly ledger: { readonly used: number; readonly reserved: number };
  /** Told to clients anywhere: for words that are nobody's business. */
  readonly heard: string;
}

const PATIENCE_MS = 30_000;

export async function play(fault: Fault, n: number, house: House): Promise<Seen> {
  const { baseUrl, provider, backend } = house;
  const own = `fault-${n}`;
  const tenantId = own;
  const token = await signIn(baseUrl, tenantId, own, fault.scopes);
  const client = new HoldpointClient({ baseUrl, token: () => token });
  if (fault.backend) backend.fault({ ...fault.backend, match: matchOf(fault.backend.route, own) });
  let run: Run | null = null;
  let conversationId = "";
  const asked = () => provider.requests(own).length;
  for (let played = 0; played < (fault.runs ?? 1); played++) {
    provider.script({
      scope: own,
      replace: true,
      queue: withOwn(fault.answers, own),
      ...(fault.otherwise ? { default: withOwn([fault.otherwise], own) } : {}),
    });
    const limits = fault.limits ? { limits: JSON.stringify(fault.limits) } : {};
    ({ id: conversationId } = await client.createConversation({ agent: "lab", metadata: { model: own, ...limits } }));
    const before = asked();
    run = await playOne(client, conversationId, fault);
    // A request too many would come now.
    await pause(50);
    if (played > 0 && asked() < before) throw new Error("requests were forgotten");
  }
  if (!run) throw new Error("nothing was played");
  return gather(fault, own, { client, token, run, conversationId }, house);
}

async function playOne(client: HoldpointClient, conversationId: string, fault: Fault): Promise<Run> {
  const { id } = await client.startRun(conversationId, { text: "go on" });
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    const run = await client.run(id);
    if (["completed", "failed", "cancelled"].includes(run.status)) return run;
    if (run.phase === "awaiting_resolution") return run;
    if (run.phase === "awaiting_confirmation" && fault.agrees) {
      const decisions = run.pending.map((call) => ({
        toolCallId: call.id,
        argsDigest: call.argsDigest,
        decision: "approve" as const,
      }));
      await client.resume(id, { decisions });
    }
    await pause(30);
  }
  throw new Error("it does not end");
}

interface Played {
  readonly client: HoldpointClient;
  readonly token: string;
  readonly run: Run;
  readonly conversationId: string;
}

async function gather(fault: Fault, own: string, played: Played, house: House): Promise<Seen> {
  const { client, run, conversationId, token } = played;
  const { baseUrl, provider, backend } = house;
  const get = async (path: string, language = "en") => {
    const headers = { authorization: `Bearer ${token}`, "accept-language": language };
    const response = await fetch(baseUrl + path, { headers });
    return response.json() as Promise<Record<string, unknown>>;
  };
  const events: Event[] = [];
  let after: string | null = null;
  do {
    const page = (await get(
      `/v1/conversations/${conversationId}/events?limit=200${after === null ? "" : `&after=${after}`}`,
    )) as { data: Event[]; nextCursor: string | null };
    events.push(...page.data);
    after = page.nextCursor;
  } while (after !== null);
  const messages = await get(`/v1/conversations/${conversationId}/messages?limit=200`);
  const chinese = await get(`/v1/conversations/${conversationId}/messages?limit=200`, "zh");
  const said = messages["data"] as readonly MessageSeen[];
  const ledger = await settled(get);
  return {
    run,
    events,
    texts: said
      .filter(({ role }) => role === "assistant")
      .map(({ parts, status }) => ({
        status,
        text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      }))
      .filter(({ text }) => text !== ""),
    notices: noticesIn(said, chinese["data"] as readonly MessageSeen[]),
    log: linesOf(house.log, own),
    requests: provider.requests(own).length,
    violations: provider.stats(own).violations.length,
    backendRequests: backend.requests().filter(({ caller }) => caller === own).length,
    bookings: backend.ledger().bookings.filter(({ caller }) => caller === own).length,
    ledger,
    heard: JSON.stringify([run, events, messages, chinese, await client.conversation(conversationId)]),
  };
}

interface MessageSeen {
  readonly role: string;
  readonly status: string;
  readonly parts: readonly { readonly type: string; readonly text?: string; readonly code?: string }[];
}

function noticesIn(english: readonly MessageSeen[], chinese: readonly MessageSeen[]): Seen["notices"] {
  const of = (messages: readonly MessageSeen[]) =>
    messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "notice");
  const translated = of(chinese);
  return of(english).map(({ code = "", text = "" }, at) => ({ code, en: text, zh: translated[at]?.text ?? "" }));
}

/** The tenant's ledger, once every request has been settled. */
async function settled(get: (path: string) => Promise<Record<string, unknown>>): Promise<Seen["ledger"]> {
  for (const until = Date.now() + 5_000; ;) {
    const usage = await get("/v1/usage");
    const { tokensPerDay } = usage["budget"] as { tokensPerDay: { used: number; reserved: number } };
    if (tokensPerDay.reserved === 0 || Date.now() > until) return tokensPerDay;
    await pause(30);
  }
}

/** The service's own lines about this fault's tenant, out of the runtime's. */
function linesOf(file: string, tenantId: string): Readonly<Record<string, unknown>>[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"tenantId\\":\\"${tenantId}\\"`))
    .map((line) => JSON.parse((JSON.parse(line) as { message: string }).message) as Record<string, unknown>);
}

const withOwn = <T>(answers: readonly T[], own: string): T[] =>
  JSON.parse(
    JSON.stringify(answers).replaceAll(`"${OWN}"`, JSON.stringify(own)).replaceAll(`\\"${OWN}\\"`, `\\"${own}\\"`),
  ) as T[];

const matchOf = (route: string, own: string): Record<string, string> =>
  route.endsWith("/transfer") ? { recipient_id: own } : { order_id: own };

async function signIn(baseUrl: string, tenantId: string, userId: string, scopes?: readonly string[]): Promise<string> {
  const response = await fetch(`${baseUrl}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId, tenantId, ttlSeconds: 3_600, ...(scopes ? { scopes } : {}) }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}
