/** The service's bundle under a plain runtime, as wrangler.toml binds it: no Miniflare, no wrangler, storage on disk. */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unstable_readConfig as readConfig } from "wrangler";

export interface OursConfig {
  readonly port: number;
  /** Where the D1 databases are, see database.ts. */
  readonly databasePort: number;
  readonly dataDir: string;
  readonly bundleDir: string;
  readonly vars: Readonly<Record<string, string>>;
}

/** As much of wrangler's configuration as this reads. */
interface Bound {
  readonly compatibility_date?: string;
  readonly compatibility_flags: readonly string[];
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] };
  readonly d1_databases: readonly { readonly binding: string }[];
  readonly vars: Readonly<Record<string, string>>;
}

const text = (value: string): string => JSON.stringify(value);

/** @returns the configuration's path */
export function writeConfig({ port, databasePort, dataDir, bundleDir, vars }: OursConfig): string {
  const bound: Bound = readConfig({ config: join(import.meta.dirname, "../../wrangler.toml") });
  const { compatibility_date, compatibility_flags, durable_objects, d1_databases } = bound;
  mkdirSync(join(dataDir, "objects"), { recursive: true });
  const classes = durable_objects.bindings.map(({ class_name }) => class_name);
  const variables = { ...bound.vars, ...vars };
  // The first is the entry.
  const files = ["index.js", ...readdirSync(bundleDir).filter((name) => name.endsWith(".sql"))];
  // What is embedded is looked for beside the configuration.
  for (const name of files) copyFileSync(join(bundleDir, name), join(dataDir, name));
  const modules = files.map((name) =>
    name === "index.js"
      ? `(name = "index.js", esModule = embed "index.js")`
      : `(name = ${text(`./${name}`)}, text = embed ${text(name)})`,
  );
  const bindings = [
    ...durable_objects.bindings.map(
      ({ name, class_name }) => `(name = ${text(name)}, durableObjectNamespace = ${text(class_name)})`,
    ),
    ...d1_databases.map(
      ({ binding }) =>
        `(name = ${text(binding)}, wrapped = (moduleName = "cloudflare-internal:d1-api", ` +
        `innerBindings = [(name = "fetcher", service = ${text(`d1-${binding}`)})]))`,
    ),
    ...Object.entries(variables).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`),
  ];
  const databases = d1_databases.map(
    ({ binding }) =>
      `(name = ${text(`d1-${binding}`)}, external = (address = "127.0.0.1:${databasePort}", ` +
      `http = (injectRequestHeaders = [(name = "x-database", value = ${text(binding)})])))`,
  );
  const config = join(dataDir, "service.capnp");
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "holdpoint", worker = .holdpoint),
    (name = "internet", network = (allow = ["public", "private", "local"])),
    (name = "objects", disk = (path = ${text(join(dataDir, "objects"))}, writable = true)),
    ${databases.join(",\n    ")}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "holdpoint")]
);
const holdpoint :Workerd.Worker = (
  modules = [${modules.join(",\n    ")}],
  compatibilityDate = ${text(compatibility_date ?? "")},
  compatibilityFlags = [${compatibility_flags.map(text).join(", ")}],
  bindings = [${bindings.join(",\n    ")}],
  durableObjectNamespaces = [
    ${classes.map((name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`).join(",\n    ")}
  ],
  durableObjectStorage = (localDisk = "objects"),
);
`,
  );
  return config;
}
