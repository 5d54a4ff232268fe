/**
 * All configuration, read once, typed, or refused as a whole. It must not be read anywhere else, and a refusal names
 * variables, never their values: it is logged, and `/healthz` shows it.
 */
import * as z from "zod";
import type { BudgetLimits } from "../protocol/budget.ts";
import type { RunLimits } from "../protocol/run.ts";
import type { AlarmName } from "../protocol/usage.ts";
import { ALARM_DEFAULTS, DEVELOPMENT_KEY, VARIABLES } from "./variables.ts";

export interface TokenRules {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  /** Lower case; `absent` stands for no `typ`. */
  readonly types: readonly string[];
  readonly leewaySeconds: number;
  readonly maxLifetimeSeconds: number;
  readonly claims: ClaimNames;
}

export interface ClaimNames {
  readonly user: string;
  readonly tenant: string;
  readonly roles: string;
  readonly scopes: string;
  readonly locale: string;
}

export type KeySource =
  | { readonly kind: "jwks"; readonly url: string }
  | { readonly kind: "secret"; readonly secret: string };

export interface Settings {
  readonly environment: "development" | "production";
  readonly devSignIn: boolean;
  /** The identity provider; null where only the development sign-in serves. */
  readonly signIn: { readonly keys: KeySource; readonly rules: TokenRules } | null;
  readonly allowedOrigins: readonly string[];
  readonly masterKey: string;
  readonly model: { readonly apiKey?: string; readonly baseUrl?: string; readonly name?: string };
  readonly labBackendUrl: string | undefined;
  readonly requestTimeoutMs: number;
  readonly cancelGraceMs: number;
  readonly backoffMs: number;
  readonly confirmationMs: number;
  readonly watchdogMs: number;
  readonly checkpointMs: number;
  readonly outboxMs: number;
  readonly commandRate: { readonly burst: number; readonly perMinute: number };
  readonly budgets: Budgets;
  readonly alarms: Thresholds;
  readonly toolCircuit: { readonly failures: number; readonly openMs: number };
  readonly runLimits: RunLimits;
}

/** A fixed bound, or a multiple of the mean hour of the last day, which is at least `least`. */
export type Thresholds = Readonly<
  Partial<Record<AlarmName, number | { readonly times: number; readonly least: number }>>
>;

export interface Budgets {
  readonly tenant: BudgetLimits;
  /** Instead of `tenant`, by tenant. */
  readonly tenants: ReadonlyMap<string, BudgetLimits>;
  readonly service: BudgetLimits;
  readonly outputTokens: number;
  readonly retryMs: number;
  readonly leaseMs: number;
}

/** The deployment is not one that may serve. `reasons` are safe to show. */
export class SettingsRefused extends Error {
  override readonly name = "SettingsRefused";
  readonly reasons: readonly string[];
  constructor(reasons: readonly string[]) {
    super(reasons.join("; "));
    this.reasons = reasons;
  }
}

const Variables = z.object(VARIABLES);
type Values = z.infer<typeof Variables>;

const SHARED = ["HS256", "HS384", "HS512"];
const PUBLIC = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];

/** @throws SettingsRefused with everything that is wrong, not only the first thing */
export function readSettings(env: Readonly<Record<string, unknown>>): Settings {
  const given = Object.fromEntries(
    Object.keys(VARIABLES)
      .map((name) => [name, env[name]] as const)
      // A variable that is set to nothing is not set: that is how files of variables are written.
      .filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = Variables.safeParse(given);
  if (!parsed.success) {
    throw new SettingsRefused(parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
  }
  const reasons = contradictions(parsed.data);
  if (reasons.length > 0) throw new SettingsRefused(reasons);
  return settingsOf(parsed.data);
}

function contradictions(values: Values): string[] {
  const { JWKS_URL, JWT_SECRET, JWT_ISSUER, JWT_AUDIENCE } = values;
  const production = values.ENVIRONMENT === "production";
  const own = JWKS_URL !== undefined || JWT_SECRET !== undefined;
  const algorithms = algorithmsOf(values);
  const allowed = JWT_SECRET === undefined ? PUBLIC : SHARED;
  const checks: [wrong: boolean, reason: string][] = [
    [
      production && values.DEV_SIGN_IN,
      "The service refuses to start with the development sign-in when ENVIRONMENT=production",
    ],
    [
      production && values.LAB_BACKEND_URL !== undefined,
      "The service refuses to start with LAB_BACKEND_URL when ENVIRONMENT=production",
    ],
    [production && values.HOLDPOINT_KEY === undefined, "HOLDPOINT_KEY is needed when ENVIRONMENT=production"],
    [
      production && values.HOLDPOINT_KEY === DEVELOPMENT_KEY,
      "HOLDPOINT_KEY is the development key, which everybody can read",
    ],
    [
      production && JWKS_URL !== undefined && !JWKS_URL.startsWith("https:"),
      "JWKS_URL must be https when ENVIRONMENT=production",
    ],
    [!own && !values.DEV_SIGN_IN, "Nobody could sign in: set JWKS_URL or JWT_SECRET"],
    [JWKS_URL !== undefined && JWT_SECRET !== undefined, "Set JWKS_URL or JWT_SECRET, not both"],
    [own && JWT_ISSUER === undefined, "JWT_ISSUER is needed with JWKS_URL or JWT_SECRET"],
    [own && (JWT_AUDIENCE ?? []).length === 0, "JWT_AUDIENCE is needed with JWKS_URL or JWT_SECRET"],
    [own && algorithms.length === 0, "JWT_ALGORITHMS names no algorithm"],
    // A public key that is taken for a shared secret lets anybody sign.
    [own && !algorithms.every((name) => allowed.includes(name)), `JWT_ALGORITHMS may only name ${allowed.join(", ")}`],
    [values.SERVICE_BUDGET.concurrentRuns !== undefined, "SERVICE_BUDGET has no concurrentRuns"],
    [!values.ALLOWED_ORIGINS.every(isOrigin), "ALLOWED_ORIGINS must be exact origins such as https://app.example.com"],
  ];
  return checks.filter(([wrong]) => wrong).map(([, reason]) => reason);
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

function algorithmsOf({ JWT_ALGORITHMS, JWT_SECRET }: Values): readonly string[] {
  return JWT_ALGORITHMS ?? (JWT_SECRET === undefined ? ["ES256", "EdDSA"] : ["HS256"]);
}

function settingsOf(values: Values): Settings {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = values;
  return {
    environment: values.ENVIRONMENT,
    devSignIn: values.DEV_SIGN_IN,
    signIn: signInOf(values),
    allowedOrigins: values.ALLOWED_ORIGINS,
    masterKey: values.HOLDPOINT_KEY ?? DEVELOPMENT_KEY,
    model: {
      ...(OPENAI_API_KEY === undefined ? {} : { apiKey: OPENAI_API_KEY }),
      ...(OPENAI_BASE_URL === undefined ? {} : { baseUrl: OPENAI_BASE_URL }),
      ...(OPENAI_MODEL === undefined ? {} : { name: OPENAI_MODEL }),
    },
    labBackendUrl: values.LAB_BACKEND_URL,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    cancelGraceMs: values.CANCEL_GRACE_MS,
    backoffMs: values.BACKOFF_MS,
    confirmationMs: values.CONFIRMATION_MS,
    watchdogMs: values.WATCHDOG_MS,
    checkpointMs: values.CHECKPOINT_MS,
    outboxMs: values.OUTBOX_MS,
    commandRate: { burst: values.COMMAND_BURST, perMinute: values.COMMANDS_PER_MINUTE },
    budgets: {
      tenant: values.TENANT_BUDGET,
      tenants: new Map(Object.entries(values.TENANT_BUDGETS)),
      service: values.SERVICE_BUDGET,
      outputTokens: values.BUDGET_OUTPUT_TOKENS,
      retryMs: values.BUDGET_RETRY_MS,
      leaseMs: values.BUDGET_LEASE_MS,
    },
    alarms: { ...ALARM_DEFAULTS, ...values.ALARMS },
    toolCircuit: { failures: values.TOOL_CIRCUIT_FAILURES, openMs: values.TOOL_CIRCUIT_MS },
    runLimits: {
      maxSteps: values.maxSteps,
      maxToolErrors: values.maxToolErrors,
      maxSameFailure: values.maxSameFailure,
      maxRunTokens: values.maxRunTokens,
      maxConversationTokens: values.maxConversationTokens,
      maxRunMs: values.maxRunMs,
      maxToolMs: values.maxToolMs,
      maxFirstByteMs: values.maxFirstByteMs,
      maxIdleMs: values.maxIdleMs,
      maxModelMs: values.maxModelMs,
    },
  };
}

function signInOf(values: Values): Settings["signIn"] {
  const keys: KeySource | null =
    values.JWKS_URL !== undefined
      ? { kind: "jwks", url: values.JWKS_URL }
      : values.JWT_SECRET !== undefined
        ? { kind: "secret", secret: values.JWT_SECRET }
        : null;
  if (keys === null || values.JWT_ISSUER === undefined) return null;
  return {
    keys,
    rules: {
      issuer: values.JWT_ISSUER,
      audiences: values.JWT_AUDIENCE ?? [],
      algorithms: algorithmsOf(values),
      types: values.JWT_TYPES.map((type) => type.toLowerCase()),
      leewaySeconds: values.JWT_LEEWAY_S,
      maxLifetimeSeconds: values.JWT_MAX_LIFETIME_S,
      claims: {
        user: values.CLAIM_USER,
        tenant: values.CLAIM_TENANT,
        roles: values.CLAIM_ROLES,
        scopes: values.CLAIM_SCOPES,
        locale: values.CLAIM_LOCALE,
      },
    },
  };
}
