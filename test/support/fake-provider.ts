#!/usr/bin/env node
/**
 * A fake model provider: speaks the OpenAI chat-completions protocol on 127.0.0.1 and answers what a test scripted.
 *
 * Why not a mock inside the process: the faults worth testing live in the bytes and in the connection (cuts inside a
 * character, silence, a socket that dies, a client that leaves), and only a real socket shows them.
 *
 * The `model` field of a request is the *scope* of the script. Tests that use different model names share one server
 * and run in parallel. Each scope has a queue of answers, first in, first out; then its default answer(s) take over.
 * A request that a real provider would refuse (chat-rules.ts) gets 400, is recorded as a violation, and takes nothing
 * from the queue.
 *
 *   node test/support/fake-provider.ts [--port N] [--fixtures DIR]... [--lenient] [--time-scale X]
 */
import type { ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { planAnswer } from "./answer-plan.ts";
import { checkAnswer, type Answer } from "./answer-script.ts";
import { inspectChatRequest } from "./chat-rules.ts";
import { watchExchange } from "./exchange.ts";
import { act, listen, readBody, sendJson, type Handler, type Routes } from "./http-kit.ts";
import { BadRequest, atLeastZero, isJsonObject, onlyKnown, type JsonObject } from "./json.ts";
import { playLoad, readLoad, type Load } from "./load-mode.ts";
import { play } from "./playback.ts";
import { runAsProgram } from "./program.ts";
import { createBook, type Book, type Entry, type RequestRecord, type Scope } from "./request-book.ts";
import { STREAM_FIXTURES, openFixtures, type FixtureLibrary } from "./stream-fixtures.ts";

export type ScriptUpdate = {
  /** The model name. */
  readonly scope: string;
  /** Answers to append. */
  readonly queue?: readonly Answer[];
  /** The answer once the queue is empty; several take turns for ever. */
  readonly default?: Answer | readonly Answer[];
  /** What a request with a longer body gets instead. */
  readonly bodyLimit?: { readonly bytes: number; readonly answer: Answer } | null;
  /** Overrides the server's setting for this scope. */
  readonly strict?: boolean;
  /** Empties the queue first. */
  readonly replace?: boolean;
};

export type ProviderOptions = {
  /** 0 (default) picks a free one. */
  readonly port?: number;
  readonly fixtures?: readonly string[];
  /** Refuse broken requests with 400 (default); otherwise only record them. */
  readonly strict?: boolean;
  /** Factor on every scripted delay and hold; not on load mode. */
  readonly timeScale?: number;
  /** Asked before the scripts: an answer that follows from the request itself. */
  readonly respond?: (scope: string, body: JsonObject) => Answer | undefined;
  /** Called when the n-th of so many writes of an answer has been handed to the kernel. */
  readonly onWrite?: (written: Written) => void;
};

export type Written = { readonly scope: string; readonly kind: string; readonly n: number; readonly of: number };

/** The functions do what the control routes of the same name do. */
export type FakeProvider = {
  readonly url: string;
  /** What an OpenAI client takes as base URL. */
  readonly baseUrl: string;
  readonly port: number;
  readonly script: (update: ScriptUpdate) => void;
  readonly requests: (scope?: string) => RequestRecord[];
  readonly stats: (scope?: string) => ReturnType<Book["stats"]>;
  readonly reset: (scope?: string) => void;
  readonly close: () => Promise<void>;
};

const BUILT_IN: Answer = { text: "Hello from the fake provider." };

export async function startFakeProvider(options: ProviderOptions = {}): Promise<FakeProvider> {
  const { port = 0, fixtures = [STREAM_FIXTURES], strict = true, timeScale = 1, respond, onWrite } = options;
  const library = openFixtures(fixtures);
  const book = createBook();
  let serial = 0;

  const answerChat = async (res: ServerResponse, entry: Entry, body: JsonObject): Promise<void> => {
    const responded = respond?.(entry.scope, body);
    const { answer, from } = responded
      ? { answer: responded, from: "respond" }
      : nextAnswer(book.scope(entry.scope), entry.scope, entry.bodyBytes);
    if ("load" in answer) {
      Object.assign(entry, { status: 200, answer: { kind: "load", from, ...answer.load } });
      playLoad(res, entry, answer.load, body);
      return;
    }
    const plan = planAnswer(answer, { fixtures: library, body, bodyBytes: entry.bodyBytes, serial: ++serial });
    entry.status = plan.status;
    entry.answer = { kind: plan.kind, from, ...(plan.name === undefined ? {} : { name: plan.name }) };
    entry.bytesPlanned = plan.writes.reduce((sum, write) => sum + write.length, 0);
    entry.writesPlanned = plan.writes.length;
    const { scope } = entry;
    await play(res, entry, plan, timeScale, (n) => onWrite?.({ scope, kind: plan.kind, n, of: plan.writes.length }));
  };

  const chat: Handler = async (req, res) => {
    const watch = watchExchange(res);
    const bytes = await readBody(req);
    if (bytes === null) return book.incomplete();
    const { body, scope, violations } = inspectChatRequest(bytes);
    const entry = book.open(scope, { watch, req, bytes, stream: body?.stream === true });
    for (const violation of violations) book.violation(entry, violation);
    const [first] = violations;
    if (first !== undefined && (body === undefined || (book.scope(scope).strict ?? strict))) {
      const { message, param, code } = first;
      entry.status = 400;
      entry.answer = { kind: "violation", code };
      return sendJson(res, 400, { error: { message, type: "invalid_request_error", param, code } });
    }
    return answerChat(res, entry, body ?? {});
  };

  const script = (update: JsonObject): void => applyScript(update, book, library);
  const scopeOf = (url: URL): string | undefined => url.searchParams.get("scope") ?? undefined;
  const routes: Routes = {
    "POST /v1/chat/completions": chat,
    "POST /chat/completions": chat,
    "POST /__script": act(script),
    "POST /__reset": act(({ scope }) => book.reset(typeof scope === "string" ? scope : undefined)),
    "GET /__requests": (_req, res, url) => sendJson(res, 200, book.requests(scopeOf(url))),
    "GET /__stats": (_req, res, url) => sendJson(res, 200, book.stats(scopeOf(url))),
    "GET /__fixtures": (_req, res) => sendJson(res, 200, library.names()),
  };
  const server = await listen((req, res, url) => {
    const route = routes[`${req.method} ${url.pathname}`];
    if (route !== undefined) return route(req, res, url);
    const message = `no route ${req.method} ${url.pathname}`;
    return sendJson(res, 404, { error: { message, type: "invalid_request_error", param: null, code: "not_found" } });
  }, port);

  return {
    url: server.url,
    baseUrl: `${server.url}/v1`,
    port: server.port,
    script: (update) => script({ ...update }),
    requests: book.requests,
    stats: book.stats,
    reset: book.reset,
    close: server.close,
  };
}

/** Nothing changes unless all of it is right. */
function applyScript(update: JsonObject, book: Book, library: FixtureLibrary): void {
  onlyKnown(update, ["scope", "queue", "default", "bodyLimit", "strict", "replace"], "script");
  const checked = (answer: unknown): Answer => {
    checkAnswer(answer, library);
    return answer;
  };
  if (typeof update.scope !== "string") throw new BadRequest("script: scope must be a string (the model name)");
  if (!Array.isArray(update.queue ?? [])) throw new BadRequest("script: queue must be an array of answers");
  const queue = [update.queue ?? []].flat().map(checked);
  const defaults = update.default === undefined ? undefined : [update.default].flat().map(checked);
  const bodyLimit = readBodyLimit(update.bodyLimit, checked);

  const scope = book.scope(update.scope);
  if (update.replace === true) scope.queue = [];
  scope.queue.push(...queue);
  if (defaults !== undefined) scope.defaults = defaults;
  if (bodyLimit !== undefined) scope.bodyLimit = bodyLimit;
  if (typeof update.strict === "boolean") scope.strict = update.strict;
}

function readBodyLimit(value: unknown, checked: (answer: unknown) => Answer): Scope["bodyLimit"] | undefined {
  if (value === undefined || value === null) return value;
  if (!isJsonObject(value) || !atLeastZero(value.bytes)) throw new BadRequest("script: bodyLimit is {bytes, answer}");
  return { bytes: Number(value.bytes), answer: checked(value.answer) };
}

/** A refusal for its size, else the queue, else the defaults in turn, else load mode, else the built-in answer. */
function nextAnswer(scope: Scope, name: string, bodyBytes: number): { answer: Answer | { load: Load }; from: string } {
  if (scope.bodyLimit !== null && bodyBytes > scope.bodyLimit.bytes) {
    return { answer: scope.bodyLimit.answer, from: "bodyLimit" };
  }
  const queued = scope.queue.shift();
  if (queued !== undefined) return { answer: queued, from: "queue" };
  const standing = scope.defaults[scope.defaultsServed % scope.defaults.length];
  if (standing !== undefined) {
    scope.defaultsServed += 1;
    return { answer: standing, from: "default" };
  }
  const load = readLoad(name);
  return load === undefined ? { answer: BUILT_IN, from: "builtin" } : { answer: { load }, from: "model" };
}

await runAsProgram(import.meta.url, () => {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      fixtures: { type: "string", multiple: true, default: [STREAM_FIXTURES] },
      lenient: { type: "boolean", default: false },
      "time-scale": { type: "string", default: "1" },
    },
  });
  return startFakeProvider({
    port: Number(values.port),
    fixtures: values.fixtures,
    strict: !values.lenient,
    timeScale: Number(values["time-scale"]),
  });
});
