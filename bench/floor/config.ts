/** The floor under a plain runtime: no Miniflare, no wrangler, storage on disk. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

export interface FloorOptions {
  readonly port: number;
  readonly worldUrl: string;
  readonly dataDir: string;
  /** A bundle in place of the floor's own worker, for a peer on the same runtime. */
  readonly worker?: string;
  /** Its bindings, and the classes behind them. */
  readonly objects?: Readonly<Record<string, string>>;
}

const OWN = { CONVERSATIONS: "Conversation" };

/** @returns the configuration's path */
export function writeConfig({ port, worldUrl, dataDir, worker, objects = OWN }: FloorOptions): string {
  mkdirSync(join(dataDir, "objects"), { recursive: true });
  const source = readFileSync(worker ?? join(import.meta.dirname, "worker.ts"), "utf8");
  writeFileSync(join(dataDir, "worker.js"), worker === undefined ? stripTypeScriptTypes(source) : source);
  const bindings = Object.entries(objects).map(([name, of]) => `(name = "${name}", durableObjectNamespace = "${of}")`);
  const namespaces = Object.values(objects).map((of) => `(className = "${of}", uniqueKey = "${of}", enableSql = true)`);
  const config = join(dataDir, "floor.capnp");
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "floor", worker = .floor),
    (name = "internet", network = (allow = ["public", "private", "local"])),
    (name = "objects", disk = (path = ${JSON.stringify(join(dataDir, "objects"))}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "floor")]
);
const floor :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [
    ${bindings.join(", ")},
    (name = "WORLD_URL", text = ${JSON.stringify(worldUrl)}),
  ],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "objects"),
);
`,
  );
  return config;
}
