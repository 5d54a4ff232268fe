/**
 * The built Worker under Miniflare, as a process of its own: for rigs that kill it and benches that measure it. Nothing
 * restarts it, nothing proxies it: a direct socket leads to the Worker, and SIGKILL to the group ends everything.
 *
 * Reads one JSON object from the environment variable RUNTIME: {port, stateDir, bundleDir, vars, rates?}.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

interface RuntimeOptions {
  readonly port: number;
  readonly stateDir: string;
  readonly bundleDir: string;
  readonly vars: Readonly<Record<string, string>>;
  /** Absent: nobody counts requests, as the load of a bench or a rig would soon exceed any number. */
  readonly rates?: { readonly user: number; readonly tenant: number };
}

const { port, stateDir, bundleDir, vars, rates } = JSON.parse(process.env["RUNTIME"] ?? "{}") as RuntimeOptions;
const texts = readdirSync(bundleDir).filter((name) => name.endsWith(".sql"));

const options = convertV4MiniflareOptions({
  name: "holdpoint",
  host: "127.0.0.1",
  port: 0,
  cf: false,
  modules: [
    { type: "ESModule", path: join(bundleDir, "index.js") },
    ...texts.map((name) => ({ type: "Text" as const, path: join(bundleDir, name) })),
  ],
  modulesRoot: bundleDir,
  compatibilityDate: "2026-11-01",
  compatibilityFlags: ["global_fetch_strictly_public"],
  durableObjects: {
    CONVERSATIONS: { className: "ConversationObject", useSQLite: true },
    REGISTRY: { className: "RegistryObject", useSQLite: true },
    STANDING: { className: "StandingObject", useSQLite: true },
    LEDGERS: { className: "LedgerObject", useSQLite: true },
  },
  ...(rates === undefined
    ? {}
    : {
        ratelimits: {
          RATE_USER: { namespace_id: "1001", simple: { limit: rates.user, period: 60 } },
          RATE_TENANT: { namespace_id: "1002", simple: { limit: rates.tenant, period: 60 } },
        },
      }),
  d1Databases: { HISTORY: "holdpoint-history", APP: "holdpoint-app" },
  bindings: { ENVIRONMENT: "development", DEV_SIGN_IN: "on", ...vars },
  unsafeDirectSockets: [{ host: "127.0.0.1", port }],
});
const miniflare = new Miniflare({ ...options, resourcePersistencePath: stateDir });
await miniflare.ready;
console.log(`ready on http://127.0.0.1:${port}`);
