/**
 * Holdpoint as a peer, for the project's own bench and for the comparison harness. The service runs as it is deployed:
 * the bundle on a bare runtime, storage on disk, sign-in and idempotency key on every command. Limits are raised only
 * where the load itself would trip them; `RAISED` is what a report must print.
 */
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldpointClient } from "../src/client/client.ts";
import { SUBPROTOCOL } from "../src/protocol/version.ts";
import { bundleInto } from "../scripts/runtime/bundle.ts";
import type { ConnectOptions, Connection, Peer, Proposal, Surroundings } from "./load/peer.ts";
import { LoadSocket } from "./load/socket.ts";
import { Frames } from "./ours/frames.ts";
import { OursService } from "./ours/service.ts";

export const RAISED = {
  maxRunTokens: "1000000000",
  maxConversationTokens: "100000000000",
  COMMAND_BURST: "1000000",
  COMMANDS_PER_MINUTE: "1000000",
};

const OWNER = "bench";
/** As many as one user may have in one conversation. */
const SOCKETS_PER_USER = 10;

interface Place {
  readonly id: string;
  readonly generation: string;
}

export interface OursOptions {
  /** A bundle that is built already. */
  readonly bundle?: string;
  /** Its model serves the tools' backend as well; otherwise one of our own is started. */
  readonly toolsAtModel?: boolean;
}

export function ours({ toolsAtModel = false, bundle = "" }: OursOptions = {}) {
  let service: OursService | null = null;
  let baseUrl = "";
  let backend: Server | null = null;
  let bundleDir = bundle;
  const tokens = new Map<string, string>();
  const places = new Map<string, Place>();

  async function token(userId: string, tenantId?: string): Promise<string> {
    const person = `${tenantId} ${userId}`;
    const known = tokens.get(person);
    if (known !== undefined) return known;
    const response = await fetch(`${baseUrl}/dev/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ userId, ...(tenantId === undefined ? {} : { tenantId }), ttlSeconds: 3_600 }),
    });
    const { token } = (await response.json()) as { token: string };
    tokens.set(person, token);
    return token;
  }

  async function place(name: string): Promise<Place> {
    const known = places.get(name);
    if (known) return known;
    const client = new HoldpointClient({ baseUrl, token: () => token(OWNER) });
    const made = await client.createConversation({ agent: "lab", metadata: { model: "fake-1" } });
    const entry = { id: made.id, generation: made.headCursor.split(".")[0] ?? "" };
    places.set(name, entry);
    return entry;
  }

  async function member(id: string, watcher: number): Promise<string> {
    const userId = `${OWNER}-${Math.floor(watcher / SOCKETS_PER_USER)}`;
    const shared = await fetch(`${baseUrl}/v1/conversations/${id}/participants/${userId}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${await token(OWNER)}`, "content-type": "application/json" },
      body: JSON.stringify({ role: "viewer" }),
    });
    if (!shared.ok) throw new Error(`not shared: ${shared.status} ${await shared.text()}`);
    return userId;
  }

  const self = {
    name: "ours",
    /** What the comparison harness may ask of it. */
    caps: { fanout: true, reconnect: true, hitl: true, cancel: true, cold: false, seed: true },
    /** Our own name of the conversation. */
    idOf: async (name: string): Promise<string> => (await place(name)).id,
    historyFile: () => service?.databaseFile("HISTORY") ?? "",
    async read(
      path: string,
      { userId = OWNER, tenantId }: { userId?: string; tenantId?: string } = {},
    ): Promise<string> {
      const headers = { authorization: `Bearer ${await token(userId, tenantId)}` };
      const response = await fetch(`${baseUrl}${path}`, { headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return text;
    },
    async start({ port, modelUrl, dataDir, log }: Surroundings) {
      bundleDir ||= await bundleInto(join(tmpdir(), `holdpoint-bench-${process.pid}`));
      if (!toolsAtModel) backend = await startBackend();
      const vars = {
        OPENAI_BASE_URL: `${modelUrl}/v1`,
        OPENAI_API_KEY: "bench-not-a-secret",
        LAB_BACKEND_URL: backend ? addressOf(backend) : modelUrl,
        ...RAISED,
      };
      baseUrl = `http://127.0.0.1:${port}`;
      service = await OursService.start({ port, dataDir, bundleDir, vars, log });
      return { pid: service.pid };
    },
    async stop() {
      await service?.stop();
      backend?.close();
      backend?.closeAllConnections();
      places.clear();
      tokens.clear();
    },
    async restart() {
      await service?.restart();
    },
    pid: () => service?.pid ?? 0,
    /** Its history is written by a database, as with those peers that bring one. */
    extraPids: () => (service ? [service.databasePid] : []),
    async seed(name: string, turns: number) {
      const frames: { ended: () => void } = { ended: () => undefined };
      const connection = await self.connect(name, { onEvent: ({ k }) => k === "done" && frames.ended() });
      for (let turn = 0; turn < turns; turn++) {
        const ended = new Promise<void>((resolve) => (frames.ended = resolve));
        const text = `question ${turn} about an order that is late and needs a refund [[n=40 id=seed]]`;
        connection.send(text, `seed-${name}-${turn}`);
        await ended;
      }
      await connection.close();
    },
    async post(name: string, text: string, run: string): Promise<number> {
      const { id } = await place(name);
      const response = await fetch(`${baseUrl}/v1/conversations/${id}/runs`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${await token(OWNER)}`,
          "content-type": "application/json",
          "idempotency-key": run,
        },
        body: JSON.stringify({ input: { text } }),
      });
      await response.text();
      return response.status;
    },
    async connect(name: string, { cursor, watcher, onEvent }: ConnectOptions): Promise<Connection> {
      const { id, generation } = await place(name);
      const userId = watcher === undefined ? OWNER : await member(id, watcher);
      const after = cursor === undefined || cursor === null ? "" : `?after=${generation}.${cursor}`;
      const frames = new Frames(onEvent);
      const socket = new LoadSocket({
        url: `${baseUrl.replace("http", "ws")}/v1/conversations/${id}/stream${after}`,
        headers: { Authorization: `Bearer ${await token(userId)}`, "Sec-WebSocket-Protocol": SUBPROTOCOL },
        onText: (text) => frames.take(text),
      });
      await socket.opened;
      return connection(socket, frames);
    },
  };
  return self satisfies Peer;
}

export type Ours = ReturnType<typeof ours>;

function connection(socket: LoadSocket, frames: Frames): Connection {
  const say = (frame: object) => socket.send(JSON.stringify(frame));
  return {
    send(text, run) {
      // The comparison harness names a tool of its own; ours is the lab's transfer, which is always confirmed.
      const asked = text.replace("tool=refund", 'tool=transfer args={"recipient_id":"A1","amount_cents":500}');
      say({ type: "start_run", id: run, idempotencyKey: run, input: { text: asked } });
    },
    confirm({ native: runId, call }: Proposal, yes) {
      const { id: toolCallId, argsDigest } = call as { id: string; argsDigest: string };
      const decisions = [{ toolCallId, argsDigest, decision: yes ? "approve" : "reject" }];
      say({ type: "resume", id: `d-${toolCallId}`, runId, decisions });
    },
    cancel: (run) => say({ type: "cancel_run", id: `x-${run}`, runId: frames.nativeOf(run) }),
    close: () => socket.close(),
    bytesIn: () => socket.bytesIn,
    bytesOut: () => socket.bytesOut,
    get framesIn() {
      return socket.framesIn;
    },
  };
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

function addressOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
}
