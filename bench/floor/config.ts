/** The floor under a plain runtime: no Miniflare, no wrangler, storage on disk. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

export interface FloorOptions {
  readonly port: number;
  readonly worldUrl: string;
  readonly dataDir: string;
}

/** @returns the configuration's path */
export function writeConfig({ port, worldUrl, dataDir }: FloorOptions): string {
  mkdirSync(join(dataDir, "objects"), { recursive: true });
  const source = readFileSync(join(import.meta.dirname, "worker.ts"), "utf8");
  writeFileSync(join(dataDir, "worker.js"), stripTypeScriptTypes(source));
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
    (name = "CONVERSATIONS", durableObjectNamespace = "Conversation"),
    (name = "WORLD_URL", text = ${JSON.stringify(worldUrl)}),
  ],
  durableObjectNamespaces = [(className = "Conversation", uniqueKey = "floor-conversation", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
);
`,
  );
  return config;
}
