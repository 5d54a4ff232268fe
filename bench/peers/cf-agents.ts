/**
 * Cloudflare's Agents SDK on the runtime that the service runs on. The client speaks the SDK's own protocol as its own
 * transport does: every send carries the whole list of messages.
 */
import { join } from "node:path";
import { writeConfig } from "../floor/config.ts";
import type { ConnectOptions, Connection, Peer, Proposal, Seen, Surroundings } from "../load/peer.ts";
import { LoadSocket } from "../load/socket.ts";
import { startChild, type Child } from "../measure/child.ts";
import { nowUs } from "../measure/clock.ts";
import { runtimeBinary } from "../measure/runtime.ts";
import { installed } from "./installed.ts";

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly body?: string;
  readonly done?: boolean;
  readonly error?: boolean;
  readonly messages?: object[];
}
interface Part {
  readonly type?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
  readonly errorText?: string;
}

export function cfAgents(): Peer {
  let child: Child | null = null;
  let boot = (): Promise<Child> => Promise.reject(new Error("start comes first"));
  let host = "";
  return {
    name: "cf-agents",
    /** No start over HTTP, no seeding by us; the rest is told by its messages. */
    lacks: ["W1h", "W4", "W6", "W7", "W10", "growth"],
    async start({ port, modelUrl: worldUrl, dataDir, log }: Surroundings) {
      host = `127.0.0.1:${port}`;
      const worker = join(await installed("cf-agents"), "dist/worker.js");
      const config = writeConfig({ port, worldUrl, dataDir, worker, objects: { ChatAgent: "ChatAgent" } });
      boot = () => startChild({ command: runtimeBinary(), args: ["serve", "--experimental", config], port, log });
      child = await boot();
    },
    stop: async () => void (await child?.end("SIGKILL")),
    async restart() {
      await child?.end("SIGKILL");
      child = await boot();
    },
    pid: () => child?.pid ?? 0,
    seed: () => Promise.reject(new Error("not measured")),
    connect: (name, options) => connect(`ws://${host}/agents/chat-agent/${name.toLowerCase()}`, options),
  };
}

async function connect(url: string, { onEvent }: ConnectOptions): Promise<Connection> {
  let messages: object[] = [];
  let run = "";
  let acked = false;
  let waits = false;
  const part = ({ type, delta = "", toolCallId, errorText = "" }: Part, t: number): void => {
    if (type === "text-delta") onEvent({ k: "delta", text: delta, n: 1, t });
    else if (type === "tool-approval-request") {
      waits = true;
      onEvent({ k: "proposal", run, call: toolCallId, t });
    } else if (type === "tool-output-available") onEvent({ k: "tool", run, t });
    else if (type === "error") onEvent({ k: "error", err: errorText, t });
  };
  const socket = new LoadSocket({
    url,
    onText: (text) => {
      const t = nowUs();
      const frame = JSON.parse(text) as Frame;
      if (frame.type === "cf_agent_stream_resuming") say({ type: "cf_agent_stream_resume_ack", id: frame.id });
      if (frame.type === "cf_agent_chat_messages") messages = frame.messages ?? messages;
      if (frame.type !== "cf_agent_use_chat_response") return;
      if (!acked) onEvent({ k: "ack", run, t });
      acked = true;
      if (frame.error) return onEvent({ k: "error", err: frame.body ?? "", t });
      if (frame.body) part(JSON.parse(frame.body) as Part, t);
      if (!frame.done) return;
      const ended: Seen = { k: "done", run, status: "done", t };
      if (!waits) onEvent(ended);
      waits = false;
    },
  });
  const say = (message: object) => socket.send(JSON.stringify(message));
  await socket.opened;
  return {
    send(text, id) {
      run = id;
      acked = false;
      messages = [...messages, { id: `u-${id}`, role: "user", parts: [{ type: "text", text }] }];
      const body = JSON.stringify({ messages, trigger: "submit-message" });
      say({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body } });
    },
    confirm: ({ call }: Proposal, approved) => {
      say({ type: "cf_agent_tool_approval", toolCallId: call, approved, autoContinue: true });
      say({ type: "cf_agent_stream_resume_request", probeId: "p1" });
    },
    cancel: (id) => say({ type: "cf_agent_chat_request_cancel", id }),
    close: () => socket.close(),
    bytesIn: () => socket.bytesIn,
    bytesOut: () => socket.bytesOut,
    get framesIn() {
      return socket.framesIn;
    },
  };
}
