/**
 * The world around a measured service, as a process of its own: a model that speaks the streaming protocol of OpenAI, by
 * script, and the backend that a confirmed tool calls. It keeps when things happened, on the machine's monotonic clock,
 * which the load generator shares; so a latency needs no exchange of clocks.
 *
 * `node bench/model/model.ts PORT`; prints `ready` when it listens. GET /times?id=RUN tells the times of a run,
 * GET /aborted?id=RUN waits until its caller has hung up.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { answered, scriptIn, type ChatMessage, type Script } from "./script.ts";

/** Microseconds. */
export interface Times {
  /** The latest request of the run has arrived; so many bytes. */
  askedAt?: number;
  askedBytes?: number;
  firstDeltaAt?: number;
  answeredAt?: number;
  abortedAt?: number;
  /** The tool's backend was called. */
  calledAt?: number;
}

const KEPT_RUNS = 50_000;
const ABORT_WAIT_MS = 15_000;
const WORDS = ["alpha", "bravo", "delta", "gamma", "sigma", "omega", "kappa", "theta"];

const runs = new Map<string, Times>();
const waiting = new Map<string, () => void>();
const nowUs = () => Number(process.hrtime.bigint() / 1_000n);

function timesOf(id: string): Times {
  const known = runs.get(id);
  if (known) return known;
  if (runs.size >= KEPT_RUNS) runs.clear();
  const times: Times = {};
  runs.set(id, times);
  return times;
}

/** Four letters and a space: five characters. */
const word = (n: number): string => `${(WORDS[n % WORDS.length] ?? "alpha").slice(0, 4)} `;

async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await bodyOf(request);
  const { messages } = JSON.parse(text) as { messages: ChatMessage[] };
  const script = scriptIn(messages);
  const times = timesOf(script.id);
  times.askedAt = nowUs();
  times.askedBytes = text.length;
  let ended = false;
  let gone = false;
  response.on("close", () => {
    if (ended) return;
    gone = true;
    times.abortedAt = nowUs();
    waiting.get(script.id)?.();
  });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  request.socket.setNoDelay(true);
  if (script.ttft > 0) await setTimeout(script.ttft);
  const calls = script.tool !== "" && answered(messages) < script.calls;
  const name = nameOfAnswer();
  await stream(name, response, calls ? { ...script, n: 0 } : script, times, () => gone);
  if (gone || (script.hang && !calls)) return;
  ended = true;
  times.answeredAt = nowUs();
  response.end(ending(name, script, calls ? answered(messages) + 1 : 0));
}

/** Every answer has an id of its own: there are clients that take two with one id for the same. */
let answers = 0;
const nameOfAnswer = (): string => `chatcmpl-${++answers}`;

const chunk = (name: string, delta: unknown, finish: string | null = null): string =>
  `data: {"id":"${name}","object":"chat.completion.chunk","created":1764000000,"model":"fake-1",` +
  `"system_fingerprint":"fp_fake","choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,` +
  `"finish_reason":${JSON.stringify(finish)}}]}\n\n`;

async function stream(
  name: string,
  response: ServerResponse,
  { n, d, w, stampAll }: Script,
  times: Times,
  gone: () => boolean,
): Promise<void> {
  const [before = "", after = ""] = chunk(name, { content: "¤" }).split("¤");
  let pending = chunk(name, { role: "assistant", content: "" });
  const begun = nowUs();
  for (let at = 0; at < n && !gone(); at++) {
    const early = d > 0 ? (begun + at * d * 1_000 - nowUs()) / 1_000 : 0;
    if (early > 0.2) await setTimeout(early);
    const now = nowUs();
    if (at === 0) times.firstDeltaAt = now;
    pending += before + (at === 0 || stampAll ? `@${now};` : "") + (stampAll ? "" : word(at)) + after;
    if (at > 0 && d === 0 && at % w !== 0 && at < n - 1) continue;
    const room = response.write(pending);
    pending = "";
    if (!room && !gone()) await Promise.race([once(response, "drain"), once(response, "close")]);
    else if (d === 0 && at % 256 === 255) await setImmediate();
  }
  if (pending !== "") response.write(pending);
}

/** @param call 0: the answer is over; otherwise which call of the script's tool is made */
function ending(name: string, { tool, args, n }: Script, call: number): string {
  const made = { index: 0, id: `call_${call}`, type: "function", function: { name: tool, arguments: args } };
  const usage = { prompt_tokens: 10, completion_tokens: n, total_tokens: 10 + n };
  const last =
    `data: {"id":"${name}","object":"chat.completion.chunk","created":1764000000,"model":"fake-1",` +
    `"choices":[],"usage":${JSON.stringify(usage)}}\n\ndata: [DONE]\n\n`;
  if (call === 0) return chunk(name, {}, "stop") + last;
  return chunk(name, { tool_calls: [made] }) + chunk(name, {}, "tool_calls") + last;
}

async function transfer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const calledAt = nowUs();
  const { recipient_id: id, amount_cents } = JSON.parse(await bodyOf(request)) as {
    recipient_id: string;
    amount_cents: number;
  };
  timesOf(id).calledAt = calledAt;
  response.writeHead(201, { "content-type": "application/json" });
  response.end(JSON.stringify({ transfer_id: "t-1", status: "booked", recipient_id: id, amount_cents }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function aborted(id: string): Promise<void> {
  if (timesOf(id).abortedAt !== undefined) return;
  await Promise.race([
    new Promise<void>((resolve) => waiting.set(id, resolve)),
    setTimeout(ABORT_WAIT_MS, undefined, { ref: false }),
  ]);
  waiting.delete(id);
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://model.local");
  const id = searchParams.get("id") ?? "";
  const tell = () => response.end(JSON.stringify(timesOf(id)));
  const failed = (error: unknown) => {
    console.error(error);
    response.destroy();
  };
  if (request.method === "POST" && pathname.endsWith("/chat/completions")) chat(request, response).catch(failed);
  else if (request.method === "POST" && pathname === "/transfer") transfer(request, response).catch(failed);
  else if (pathname === "/times") tell();
  else if (pathname === "/aborted") void aborted(id).then(tell);
  else response.writeHead(404).end();
});
server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.headersTimeout = 0;
server.listen(Number(process.argv[2]), "127.0.0.1", 1_024, () => console.log("ready"));
