/** Who may import what: the table in ARCHITECTURE.md as data. A folder that it does not name may not exist. */

export type Allowed = {
  /** A folder under src/ or a package. */
  readonly from: string;
  /** Only as `import type`. */
  readonly typeOnly?: true;
  /** Only these files of the folder, by their path inside it. */
  readonly files?: RegExp;
};

export type Rule = { readonly folders: readonly Allowed[]; readonly packages: readonly Allowed[] };

const protocol = { from: "protocol" };
const protocolTypes = { from: "protocol", typeOnly: true } as const;
const actorPorts = { from: "actor", files: /^(tenant-)?ports\.ts$/ };
const cloudflare = { from: "cloudflare:workers" };

/** An adapter may hold the actor's ports and the core's types and pure helpers, not the actor itself. */
const adapter: Rule = {
  folders: [protocol, { from: "run" }, actorPorts, { from: "sql" }],
  packages: [cloudflare],
};

export const FOLDERS: Readonly<Record<string, Rule>> = {
  protocol: { folders: [], packages: [{ from: "zod" }, { from: "canonicalize" }] },
  run: { folders: [protocol], packages: [] },
  actor: { folders: [{ from: "run" }, protocol], packages: [] },
  tools: { folders: [protocol], packages: [{ from: "zod" }] },
  agents: { folders: [{ from: "tools" }, protocol, { from: "sql" }], packages: [{ from: "zod" }] },
  effects: {
    folders: [protocol, { from: "run", typeOnly: true }, actorPorts, { from: "tools" }, { from: "agents" }],
    packages: [{ from: "openai" }, { from: "canonicalize" }, { from: "zod" }],
  },
  rehearsal: { folders: [protocol], packages: [] },
  sql: { folders: [], packages: [] },
  storage: adapter,
  stream: adapter,
  history: adapter,
  tenant: { folders: [protocol, { from: "sql" }], packages: [cloudflare, { from: "zod" }] },
  edge: {
    folders: [protocol, { from: "history", files: /^read/ }],
    packages: [{ from: "hono" }, { from: "jose" }, { from: "zod" }, { from: "cloudflare:workers", typeOnly: true }],
  },
  observe: { folders: [protocol], packages: [] },
  client: { folders: [protocolTypes], packages: [] },
  console: { folders: [protocolTypes, { from: "client" }], packages: [] },
};

/** The roots do all the wiring and may import everything. Nothing but another root may import a root. */
export const ROOTS: readonly string[] = [
  "index.ts",
  "conversation-object.ts",
  "conversation-life.ts",
  "deployment.ts",
  "local-migrations.ts",
  "platform.ts",
  "restore-door.ts",
  "standing-object.ts",
];

/** The only file that may consist of re-exports: the runtime finds the classes there. */
export const ENTRY = "index.ts";
