/**
 * The log: one JSON line for one entry. Only fields with a name on the list below are written, cleaned; everything else
 * is counted and left out, so that a new call site cannot leak by being careless. Never throws: a log that fails must
 * not fail what it tells about.
 *
 * Must never be handed an `authHeader`, a ticket or a request body; `scrub` is there for the day when it is.
 */
import { errorFields } from "./error-fields.ts";
import { scrub } from "./scrub.ts";

export type Level = "info" | "warn" | "error";
export type Fields = Readonly<Record<string, unknown>>;

/** The same shape as the actor's port of that name, which this folder does not know. */
export interface JsonLog {
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, error: unknown, fields?: Fields): void;
}

export interface LogOptions {
  /** Writes stacks too. */
  readonly development: boolean;
  readonly sink?: (line: string, level: Level) => void;
  readonly now?: () => number;
  /** Values of the configuration that must never be seen: keys, the master secret. */
  readonly secrets?: readonly string[];
}

const IDS = ["requestId", "traceId", "conversationId", "runId", "toolCallId", "effectId", "messageId"] as const;
const TEXTS = [
  "agent",
  "backend",
  "binding",
  "commit",
  "detail",
  "duty",
  "environment",
  "error",
  "generation",
  "kind",
  "limit",
  "method",
  "migrations",
  "model",
  "name",
  "operation",
  "phase",
  "reason",
  "reasons",
  "route",
  "service",
  "state",
  "stop",
  "table",
  "target",
  "tenantId",
  "tool",
  "type",
  "userId",
  "version",
  "code",
] as const;
const FIGURES = [
  "attempt",
  "attempts",
  "bound",
  "bytes",
  "costMicroUsd",
  "count",
  "events",
  "figure",
  "head",
  "incarnation",
  "inputTokens",
  "limitMs",
  "ms",
  "outputTokens",
  "port",
  "replayed",
  "retryAfterMs",
  "retryable",
  "rows",
  "seq",
  "sockets",
  "status",
  "step",
  "steps",
  "tokens",
] as const;
/** Their members are on the list as well, or left out. */
const GROUPS = ["provider"] as const;

type FieldKind = "id" | "text" | "figure" | "group";
const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ...IDS.map((name) => [name, "id"] as const),
  ...TEXTS.map((name) => [name, "text"] as const),
  ...FIGURES.map((name) => [name, "figure"] as const),
  ...GROUPS.map((name) => [name, "group"] as const),
]);

/** Our own ids, UUIDs and trace ids: as long as a secret, but known by their form. */
const ID =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-7][0-9a-hjkmnp-tv-z]{25}(?:\.[a-z][0-9]{1,9}){0,2})$/;
const EVENT = /^[a-z][a-z0-9_.]{0,63}$/;
const MOST_ITEMS = 16;

export function createLog(base: Fields, options: LogOptions): JsonLog {
  const { development, sink = toConsole, now = () => Date.now(), secrets = [] } = options;
  const write = (level: Level, event: string, fields: Fields | undefined, error?: { thrown: unknown }): void => {
    try {
      const told = { ...known(base, secrets), ...known(fields ?? {}, secrets) };
      const line = {
        at: new Date(now()).toISOString(),
        level,
        event: EVENT.test(event) ? event : "unnamed",
        ...told,
        ...(error ? { error: errorFields(error.thrown, secrets, development) } : {}),
      };
      sink(JSON.stringify(line), level);
    } catch {
      // Nobody is left to tell.
    }
  };
  return {
    info: (event, fields) => write("info", event, fields),
    warn: (event, fields) => write("warn", event, fields),
    error: (event, thrown, fields) => write("error", event, fields, { thrown }),
  };
}

function known(fields: Fields, secrets: readonly string[], nested = false): Record<string, unknown> {
  const told: Record<string, unknown> = {};
  let omitted = 0;
  for (const name of Object.keys(fields)) {
    const kind = KINDS.get(name);
    const value = kind === undefined ? undefined : valueOf(kind, read(fields, name), secrets, nested);
    if (value !== undefined) told[name] = value;
    else if (read(fields, name) !== undefined) omitted++;
  }
  return omitted === 0 || nested ? told : { ...told, omitted };
}

/** undefined: nothing that may be written. */
function valueOf(kind: FieldKind, value: unknown, secrets: readonly string[], nested: boolean): unknown {
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (kind === "group") {
    const isGroup = typeof value === "object" && !Array.isArray(value) && !nested;
    return isGroup ? known(value as Fields, secrets, true) : undefined;
  }
  if (kind === "figure") return undefined;
  if (Array.isArray(value) && kind === "text") {
    return value.slice(0, MOST_ITEMS).flatMap((item) => (typeof item === "string" ? [scrub(item, secrets)] : []));
  }
  if (typeof value !== "string") return undefined;
  return kind === "id" && ID.test(value) && !secrets.includes(value) ? value : scrub(value, secrets);
}

function read(fields: Fields, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return undefined;
  }
}

function toConsole(line: string, level: Level): void {
  if (level === "error") console.error(line);
  else if (level === "warn") console.warn(line);
  else console.log(line);
}
