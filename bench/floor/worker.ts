/**
 * The floor: what this runtime can do at best. A Worker that forwards, and an object that stores what must not be lost
 * (the user's message, the run, the answer) and sends what happens. No sign-in, no log, no limits, no recovery: what a
 * product does beyond this is what its ratio to the floor says.
 *
 * One row turn before the acknowledgement and one at the end; one WebSocket frame per network read of the model.
 */
import { DurableObject } from "cloudflare:workers";

interface FloorEnv {
  readonly CONVERSATIONS: DurableObjectNamespace<Conversation>;
  readonly WORLD_URL: string;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

interface Running {
  readonly id: string;
  readonly controller: AbortController;
  text: string;
  calls: number;
}

type Said =
  | { readonly t: "send"; readonly id: string; readonly text: string }
  | { readonly t: "confirm" | "cancel"; readonly id: string };

/** As much of a chunk of the model's stream as this reads. */
interface Chunk {
  readonly choices: readonly {
    readonly delta?: {
      readonly content?: string;
      readonly tool_calls?: readonly {
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

const TOOLS = [
  {
    type: "function",
    function: {
      name: "transfer",
      description: "Transfers money.",
      parameters: {
        type: "object",
        properties: { recipient_id: { type: "string" }, amount_cents: { type: "integer" } },
        required: ["recipient_id", "amount_cents"],
      },
    },
  },
];

const SCHEMA = `CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, role TEXT, body TEXT, run TEXT);
  CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, status TEXT, call TEXT)`;

export class Conversation extends DurableObject<FloorEnv> {
  readonly #running = new Map<string, Running>();

  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(SCHEMA);
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.endsWith("/runs")) {
      const { id, text } = await request.json<{ id: string; text: string }>();
      this.#begin(id, text);
      return Response.json({ id }, { status: 202 });
    }
    if (pathname.endsWith("/seed")) {
      this.#seed(Number(searchParams.get("turns")));
      return new Response("seeded");
    }
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    if (searchParams.has("after")) this.#catchUp(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketMessage(_socket: WebSocket, message: string | ArrayBuffer): void {
    const said = JSON.parse(String(message)) as Said;
    if (said.t === "send") return this.#begin(said.id, said.text);
    if (said.t === "cancel") return this.#running.get(said.id)?.controller.abort();
    return this.#confirmed(said.id);
  }

  /** Answered by hand: a local runtime leaves the other side waiting otherwise. */
  override webSocketClose(socket: WebSocket, code: number): void {
    socket.close(code === 1_005 || code === 1_006 ? 1_000 : code);
  }

  #begin(id: string, text: string): void {
    const { sql } = this.ctx.storage;
    if (sql.exec("SELECT id FROM runs WHERE id = ?", id).toArray().length > 0) return this.#say({ t: "ack", id });
    sql.exec("INSERT INTO runs (id, status) VALUES (?, 'running')", id);
    this.#keep("user", text, id);
    // Held by the output gate until both are durable.
    this.#say({ t: "ack", id });
    void this.#ask({ id, controller: new AbortController(), text: "", calls: 0 });
  }

  #confirmed(id: string): void {
    const { sql } = this.ctx.storage;
    const [run] = sql
      .exec<{ status: string; call: string }>("SELECT status, call FROM runs WHERE id = ?", id)
      .toArray();
    if (run?.status !== "waiting") return;
    sql.exec("UPDATE runs SET status = 'running' WHERE id = ?", id);
    void this.#call(id, JSON.parse(run.call) as Call);
  }

  async #call(run: string, { id, args }: Call): Promise<void> {
    const answer = await fetch(`${this.env.WORLD_URL}/transfer`, { method: "POST", body: args });
    const result = await answer.text();
    this.#keep("tool", JSON.stringify({ id, result }), run);
    this.#say({ t: "tool", id: run, call: id, result });
    await this.#ask({ id: run, controller: new AbortController(), text: "", calls: 0 });
  }

  async #ask(run: Running): Promise<void> {
    this.#running.set(run.id, run);
    const call = { id: "", name: "", args: "" };
    let status = "done";
    try {
      const { signal } = run.controller;
      const body = JSON.stringify({
        model: "fake-1",
        stream: true,
        stream_options: { include_usage: true },
        tools: TOOLS,
        messages: this.#history(),
      });
      const headers = { "content-type": "application/json" };
      const url = `${this.env.WORLD_URL}/v1/chat/completions`;
      const response = await fetch(url, { method: "POST", headers, body, signal });
      for await (const chunks of readsOf(response.body)) this.#read(run, chunks, call);
    } catch {
      status = run.controller.signal.aborted ? "cancelled" : "error";
    }
    this.#running.delete(run.id);
    if (run.text !== "") this.#keep("assistant", run.text, run.id);
    if (call.name !== "" && status === "done") return this.#propose(run.id, call);
    this.ctx.storage.sql.exec("UPDATE runs SET status = ? WHERE id = ?", status, run.id);
    this.#say({ t: "done", id: run.id, status });
  }

  #read(run: Running, chunks: readonly Chunk[], call: { id: string; name: string; args: string }): void {
    let text = "";
    let deltas = 0;
    for (const { choices } of chunks) {
      const delta = choices[0]?.delta;
      for (const part of delta?.tool_calls ?? []) {
        call.id = part.id ?? call.id;
        call.name = part.function?.name ?? call.name;
        call.args += part.function?.arguments ?? "";
      }
      if (!delta?.content) continue;
      text += delta.content;
      deltas += 1;
    }
    if (deltas === 0) return;
    run.text += text;
    this.#say({ t: "delta", x: text, k: deltas });
  }

  #propose(id: string, call: Call): void {
    this.#keep("call", JSON.stringify(call), id);
    this.ctx.storage.sql.exec("UPDATE runs SET status = 'waiting', call = ? WHERE id = ?", JSON.stringify(call), id);
    this.#say({ t: "proposal", id, call });
  }

  #history(): object[] {
    const rows = this.ctx.storage.sql.exec<{ role: string; body: string }>(
      "SELECT role, body FROM messages ORDER BY seq",
    );
    return [...rows].map(({ role, body }) => {
      if (role === "call") {
        const { id, name, args } = JSON.parse(body) as Call;
        const called = { id, type: "function", function: { name, arguments: args } };
        return { role: "assistant", content: null, tool_calls: [called] };
      }
      if (role !== "tool") return { role, content: body };
      const { id, result } = JSON.parse(body) as { id: string; result: string };
      return { role, tool_call_id: id, content: result };
    });
  }

  #catchUp(socket: WebSocket): void {
    const [live] = this.#running.values();
    if (live) return socket.send(JSON.stringify({ t: "snapshot", x: live.text }));
    const last = "SELECT body FROM messages WHERE role = 'assistant' ORDER BY seq DESC LIMIT 1";
    const [answer] = this.ctx.storage.sql.exec<{ body: string }>(last).toArray();
    socket.send(JSON.stringify({ t: "snapshot", x: answer?.body ?? "" }));
  }

  #seed(turns: number): void {
    for (let turn = 0; turn < turns; turn++) {
      this.#keep("user", `question ${turn} about an order that is late and needs a refund`, `seed-${turn}`);
      this.#keep("assistant", `answer ${turn} ${"word ".repeat(40)}`, `seed-${turn}`);
    }
  }

  #keep(role: string, body: string, run: string): void {
    this.ctx.storage.sql.exec("INSERT INTO messages (role, body, run) VALUES (?, ?, ?)", role, body, run);
  }

  #say(message: object): void {
    const text = JSON.stringify(message);
    for (const socket of this.ctx.getWebSockets()) socket.send(text);
  }
}

/** The chunks of the model's stream, in one array per network read. */
async function* readsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Chunk[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    const chunks: Chunk[] = [];
    let from = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
      if (rest.startsWith("data: {", from)) chunks.push(JSON.parse(rest.slice(from + 6, end)) as Chunk);
      from = end + 1;
    }
    rest = rest.slice(from);
    if (chunks.length > 0) yield chunks;
  }
}

export default {
  async fetch(request: Request, env: FloorEnv): Promise<Response> {
    const [, name] = /^\/c\/([^/]+)/.exec(new URL(request.url).pathname) ?? [];
    if (name === undefined) return new Response("floor");
    return env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(name)).fetch(request);
  },
};
