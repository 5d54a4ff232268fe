/** The floor as a peer. */
import { startChild, type Child } from "../measure/child.ts";
import { nowUs } from "../measure/clock.ts";
import { LoadSocket } from "../load/socket.ts";
import type { ConnectOptions, Connection, Peer, Surroundings } from "../load/peer.ts";
import { runtimeBinary } from "../measure/runtime.ts";
import { writeConfig } from "./config.ts";

/** What its worker says. */
type Said =
  | { readonly t: "ack"; readonly id: string }
  | { readonly t: "delta"; readonly x: string; readonly k: number }
  | { readonly t: "snapshot"; readonly x: string }
  | { readonly t: "proposal"; readonly id: string; readonly call: unknown }
  | { readonly t: "tool"; readonly id: string }
  | { readonly t: "done"; readonly id: string; readonly status: string };

export function floor(): Peer {
  let child: Child | null = null;
  let boot = (): Promise<Child> => Promise.reject(new Error("start comes first"));
  let host = "";
  const at = (conversation: string, rest = "") => `http://${host}/c/${conversation}${rest}`;
  return {
    name: "floor",
    async start({ port, modelUrl: worldUrl, dataDir, log }: Surroundings) {
      host = `127.0.0.1:${port}`;
      const config = writeConfig({ port, worldUrl, dataDir });
      boot = () => startChild({ command: runtimeBinary(), args: ["serve", "--experimental", config], port, log });
      child = await boot();
    },
    // Hard: politely it would wait until the last socket is closed.
    stop: async () => void (await child?.end("SIGKILL")),
    async restart() {
      await child?.end("SIGKILL");
      child = await boot();
    },
    pid: () => child?.pid ?? 0,
    seed: async (conversation, turns) => void (await fetch(at(conversation, `/seed?turns=${turns}`))).text(),
    async post(conversation, text, run) {
      const response = await fetch(at(conversation, "/runs"), {
        method: "POST",
        body: JSON.stringify({ id: run, text }),
      });
      await response.text();
      return response.status;
    },
    connect: (conversation, options) => connect(at(conversation).replace("http", "ws"), options),
  };
}

async function connect(url: string, { cursor, onEvent }: ConnectOptions): Promise<Connection> {
  const socket = new LoadSocket({
    url: cursor === undefined ? url : `${url}?after=${cursor}`,
    onText: (text) => {
      const t = nowUs();
      const said = JSON.parse(text) as Said;
      switch (said.t) {
        case "ack":
          return onEvent({ k: "ack", run: said.id, t });
        case "delta":
          return onEvent({ k: "delta", text: said.x, n: said.k, t });
        case "snapshot":
          onEvent({ k: "delta", text: said.x, n: 0, snap: true, t });
          return onEvent({ k: "caughtup", t });
        case "proposal":
          return onEvent({ k: "proposal", run: said.id, call: said.call, t });
        case "tool":
          return onEvent({ k: "tool", run: said.id, t });
        case "done":
          return onEvent({ k: "done", run: said.id, status: said.status, t });
      }
    },
  });
  await socket.opened;
  const say = (message: object) => socket.send(JSON.stringify(message));
  return {
    send: (text, id) => say({ t: "send", id, text }),
    confirm: ({ run }) => say({ t: "confirm", id: run }),
    cancel: (id) => say({ t: "cancel", id }),
    close: () => socket.close(),
    bytesIn: () => socket.bytesIn,
    bytesOut: () => socket.bytesOut,
    get framesIn() {
      return socket.framesIn;
    },
  };
}
