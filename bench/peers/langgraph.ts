/** LangGraph's API server. What it acknowledges is in memory: it writes a file some seconds after a change. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { join } from "node:path";
import type { ConnectOptions, Connection, Peer, Surroundings } from "../load/peer.ts";
import { startChild, type Child } from "../measure/child.ts";
import { nowUs } from "../measure/clock.ts";
import { installed } from "./installed.ts";

export function langgraph(): Peer {
  let child: Child | null = null;
  let boot = (): Promise<Child> => Promise.reject(new Error("start comes first"));
  let baseUrl = "";
  return {
    name: "langgraph",
    /** Its streams are not resumable and have one reader, unless it is set up otherwise. */
    lacks: ["W1h", "W4", "W6", "W7", "W10", "growth"],
    async start({ port, modelUrl, dataDir, log }: Surroundings) {
      baseUrl = `http://127.0.0.1:${port}`;
      const cwd = await installed("langgraph");
      boot = () =>
        startChild({
          command: process.execPath,
          args: [join(cwd, "serve.mjs"), String(port), dataDir],
          port,
          log,
          cwd,
          env: { WORLD_URL: modelUrl, NODE_ENV: "production", LOG_LEVEL: "error" },
        });
      child = await boot();
    },
    stop: async () => void (await child?.end("SIGKILL")),
    async restart() {
      await child?.end("SIGKILL");
      child = await boot();
    },
    pid: () => child?.pid ?? 0,
    seed: () => Promise.reject(new Error("not measured")),
    connect: async (name, options) => connectTo(`${baseUrl}/threads/${uuidOf(name)}`, options),
  };
}

function connectTo(thread: string, { onEvent }: ConnectOptions): Connection {
  let [bytesIn, bytesOut, frames] = [0, 0, 0];
  const native = new Map<string, string>();
  const stream = (run: string, asked: object, first: boolean): void => {
    const payload = JSON.stringify({
      assistant_id: "agent",
      stream_mode: ["messages-tuple", "updates"],
      if_not_exists: "create",
      on_disconnect: "continue",
      ...asked,
    });
    bytesOut += payload.length;
    let waits = false;
    const headers = { accept: "text/event-stream", "content-type": "application/json" };
    const sent = request(`${thread}/runs/stream`, { method: "POST", headers }, (response) => {
      native.set(run, /runs\/([0-9a-f-]+)/.exec(String(response.headers["content-location"]))?.[1] ?? "");
      if (first) onEvent({ k: "ack", run, t: nowUs() });
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        const t = nowUs();
        bytesIn += chunk.length;
        const events = (rest + chunk.replaceAll("\r", "")).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          frames += 1;
          if (read(event, run, t)) waits = true;
        }
      });
      response.on("end", () => !waits && onEvent({ k: "done", run, status: "done", t: nowUs() }));
    });
    sent.on("error", (error) => onEvent({ k: "error", err: error.message, t: nowUs() }));
    sent.end(payload);
  };
  /** @returns whether the run waits for a person now */
  const read = (event: string, run: string, t: number): boolean => {
    const [, name] = /^event: ?(.*)$/m.exec(event) ?? [];
    const [, data = "null"] = /^data: ?(.*)$/m.exec(event) ?? [];
    if (name === "error") onEvent({ k: "error", err: data, t });
    if (name === "messages") {
      const [message] = JSON.parse(data) as [{ type: string; content: unknown }];
      if (message.type === "tool") onEvent({ k: "tool", run, t });
      else if (typeof message.content === "string" && message.content !== "") {
        onEvent({ k: "delta", text: message.content, n: 1, t });
      }
    }
    const interrupted = name === "updates" && data.includes('"__interrupt__"');
    // It rests when its stream has ended, a moment after it has said so.
    if (interrupted) onEvent({ k: "proposal", run, t });
    return interrupted;
  };
  return {
    send: (content, run) => stream(run, { input: { messages: [{ type: "human", content }] } }, true),
    confirm: ({ run }, ok) => stream(run, { command: { resume: { ok } } }, false),
    cancel: (run) =>
      request(`${thread}/runs/${native.get(run)}/cancel?wait=0&action=interrupt`, { method: "POST" })
        .on("error", () => undefined)
        .end(),
    close: async () => undefined,
    bytesIn: () => bytesIn,
    bytesOut: () => bytesOut,
    get framesIn() {
      return frames;
    },
  };
}

function uuidOf(name: string): string {
  const hex = createHash("md5").update(name).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}
