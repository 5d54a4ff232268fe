/**
 * Holdpoint as a peer of the comparison harness: one file, its adapter's interface. The service runs as it is deployed
 * (the bundle on a bare runtime, storage on disk, sign-in and idempotency key on every command), with limits raised only
 * where the load itself would trip them; `RAISED` is what a report must print.
 *
 * In the harness: `import { ours } from "<this file>"`, and `ours: ours()` among its peers. Node 24 runs it as it is.
 */
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldpointClient } from "../src/client/client.ts";
import type { Event } from "../src/protocol/events.ts";
import type { ServerFrame } from "../src/protocol/frames.ts";
import { bundleInto } from "../scripts/runtime/bundle.ts";
import { startRuntime, type Service } from "../scripts/service.ts";

export const RAISED = { maxRunTokens: "1000000000", maxConversationTokens: "100000000000" };

const nowUs = () => Number(process.hrtime.bigint() / 1_000n);

type Seen = { readonly k: string; readonly t: number } & Record<string, unknown>;
interface ConnectOptions {
  readonly cursor?: number | null;
  readonly onEvent?: (event: Seen) => void;
}
interface Environment {
  readonly port: number;
  readonly modelUrl: string;
  readonly dataDir: string;
}

/** As much of the harness's WebSocket package as this uses. */
interface WebSocketClient {
  on(event: "message", listener: (data: Buffer) => void): void;
  once(event: "open" | "close" | "error", listener: (error?: Error) => void): WebSocketClient;
  send(text: string): void;
  close(): void;
  terminate(): void;
}
type WebSocketPackage = new (
  url: string,
  protocols: readonly string[],
  options: { readonly headers: Record<string, string>; readonly perMessageDeflate: boolean },
) => WebSocketClient;

/** The harness's own WebSocket package, where it is run: it counts bytes on the socket. */
const ws = () => createRequire(join(process.cwd(), "peers.mjs"))("ws") as WebSocketPackage;

export function ours() {
  let service: Service | null = null;
  let backend: Server | null = null;
  let environment: Environment | null = null;
  let client: HoldpointClient | null = null;
  let token = "";
  let bundleDir = "";
  const conversations = new Map<string, { id: string; generation: string }>();

  async function boot(): Promise<void> {
    if (!environment) throw new Error("start comes first");
    const { port, modelUrl, dataDir } = environment;
    const address = backend?.address();
    const backendPort = typeof address === "object" && address ? address.port : 0;
    service = await startRuntime({
      port,
      stateDir: dataDir,
      bundleDir,
      vars: {
        OPENAI_BASE_URL: `${modelUrl}/v1`,
        OPENAI_API_KEY: "bench",
        LAB_BACKEND_URL: `http://127.0.0.1:${backendPort}`,
        ...RAISED,
      },
    });
    const { baseUrl } = service;
    const signIn = await fetch(`${baseUrl}/dev/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ userId: "bench", ttlSeconds: 3_600 }),
    });
    ({ token } = (await signIn.json()) as { token: string });
    client = new HoldpointClient({ baseUrl, token: () => token });
  }

  async function conversation(name: string) {
    const known = conversations.get(name);
    if (known) return known;
    if (!client) throw new Error("not started");
    const made = await client.createConversation({ agent: "lab", metadata: { model: "fake-1" } });
    const entry = { id: made.id, generation: made.headCursor.split(".")[0] ?? "" };
    conversations.set(name, entry);
    return entry;
  }

  const self = {
    name: "ours",
    caps: { fanout: true, reconnect: true, hitl: true, cancel: true, cold: false, seed: true },
    async start(given: Environment) {
      environment = given;
      bundleDir ||= await bundleInto(join(tmpdir(), `holdpoint-bench-${process.pid}`));
      backend = await startBackend();
      await boot();
      return { pid: service?.pid };
    },
    async stop() {
      await service?.kill();
      backend?.close();
      backend?.closeAllConnections();
      conversations.clear();
    },
    async restart() {
      await service?.kill();
      await boot();
    },
    pid: () => service?.pid ?? 0,
    async seed(name: string, turns: number) {
      const connection = await self.connect(name, {});
      for (let turn = 0; turn < turns; turn++)
        await connection.turn(`question ${turn} [[n=40 id=seed]]`, `seed-${name}-${turn}`);
      await connection.close();
    },
    async connect(name: string, { cursor, onEvent = () => undefined }: ConnectOptions) {
      const { id, generation } = await conversation(name);
      const after = cursor === null || cursor === undefined ? "" : `?after=${generation}.${cursor}`;
      const url = `${(service?.baseUrl ?? "").replace("http", "ws")}/v1/conversations/${id}/stream${after}`;
      const headers = { authorization: `Bearer ${token}` };
      const socket = new (ws())(url, ["holdpoint.v1"], { headers, perMessageDeflate: false });
      return connect(socket, onEvent);
    },
  };
  return self;
}

async function connect(socket: WebSocketClient, onEvent: (event: Seen) => void) {
  /** The harness's run ids ⇄ ours: ours are made by the service, and come with the acknowledgement. */
  const native = new Map<string, string>();
  const given = new Map<string, string>();
  const ended = new Map<string, () => void>();
  const counters = { framesIn: 0 };
  const runOf = (event: Event) => given.get(event.runId ?? "") ?? event.runId;

  const onDurable = (event: Event, t: number) => {
    const run = runOf(event);
    switch (event.type) {
      case "run.interrupted":
        return (
          event.data.needsConfirmation &&
          onEvent({ k: "proposal", run, call: event.data.pending[0], native: event.runId, t })
        );
      case "tool_call.finished":
        return onEvent({ k: "tool", run, t });
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
        onEvent({ k: "done", run, status: event.type === "run.completed" ? "done" : event.type.slice(4), t });
        return ended.get(event.runId ?? "")?.();
      default:
    }
  };
  const onFrame = (frame: ServerFrame, t: number) => {
    switch (frame.type) {
      case "ack": {
        const run = frame.id;
        // The acknowledgement of a decision or a cancel is no run's registration.
        if (/^[dx]-/.test(run)) return undefined;
        const ours = String((frame.result as { id: string }).id);
        native.set(run, ours);
        given.set(ours, run);
        return onEvent({ k: "ack", run, native: ours, t });
      }
      case "delta":
        return onEvent({ k: "delta", text: frame.text, n: Math.max(1, Math.round(frame.text.length / 5)), t });
      case "partial":
        return onEvent({ k: "delta", text: frame.text, n: Math.round(frame.text.length / 5), snap: true, t });
      case "event":
        return onDurable(frame.event as Event, t);
      case "events":
        return onEvent({ k: "caughtup", t });
      case "problem":
        return onEvent({ k: "error", err: frame.problem.code, t });
      default:
    }
  };
  socket.on("message", (data: Buffer) => {
    counters.framesIn++;
    const t = nowUs();
    onFrame(JSON.parse(data.toString()) as ServerFrame, t);
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const tcp = () => (socket as unknown as { _socket?: { bytesRead: number; bytesWritten: number } })._socket;
  const say = (frame: Record<string, unknown>) => socket.send(JSON.stringify(frame));

  const connection = {
    get framesIn() {
      return counters.framesIn;
    },
    send(text: string, id: string) {
      // The harness names a tool of its own; ours is the lab's transfer, which is always confirmed.
      const asked = text.replace("tool=refund", 'tool=transfer args={"recipient_id":"A1","amount_cents":500}');
      say({ type: "start_run", id, idempotencyKey: id, input: { text: asked } });
    },
    confirm(proposal: { native: string; call: { id: string; argsDigest: string } }, yes: boolean) {
      const { id: toolCallId, argsDigest } = proposal.call;
      const decision = yes ? "approve" : "reject";
      say({
        type: "resume",
        id: `d-${toolCallId}`,
        runId: proposal.native,
        decisions: [{ toolCallId, argsDigest, decision }],
      });
    },
    cancel(id: string) {
      const runId = native.get(id) ?? id;
      say({ type: "cancel_run", id: `x-${id}`, runId });
    },
    /** One whole turn, for seeding. */
    async turn(text: string, id: string) {
      const acked = new Promise<string>((resolve) => {
        const look = () => (native.has(id) ? resolve(native.get(id) ?? "") : void setImmediate(look));
        connection.send(text, id);
        look();
      });
      const runId = await acked;
      await new Promise<void>((resolve) => ended.set(runId, resolve));
    },
    bytesIn: () => tcp()?.bytesRead ?? 0,
    bytesOut: () => tcp()?.bytesWritten ?? 0,
    raw: (text: string) => socket.send(text),
    close: () =>
      new Promise<void>((resolve) => {
        socket.once("close", () => resolve());
        socket.close();
        setTimeout(() => {
          socket.terminate();
          resolve();
        }, 500).unref();
      }),
  };
  return connection;
}

/** What the confirmed tool calls: it answers at once, so that the path to it is what is measured. */
function startBackend(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(201, { "content-type": "application/json" });
      response.end(JSON.stringify({ transfer_id: "t-1", status: "booked", recipient_id: "A1", amount_cents: 500 }));
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
