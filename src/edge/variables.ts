/**
 * The variables of a deployment: name, shape, default and meaning, as data. README's configuration table is made of
 * them. This module reads nothing and decides nothing; `settings.ts` does.
 */
import * as z from "zod";
import { BudgetLimits } from "../protocol/budget.ts";
import { AlarmName } from "../protocol/usage.ts";
import { DURATIONS, LIMITS, RATES, RUN_LIMITS } from "../protocol/limits.ts";

/** Of the development environment only: anybody can read it here. not-a-secret */
export const DEVELOPMENT_KEY = "holdpoint development key, readable by everybody, not-a-secret";

const ON = new Set(["on", "true", "1", "yes"]);
const OFF = new Set(["off", "false", "0", "no"]);
const flag = z
  .string()
  .refine((text) => ON.has(text.toLowerCase()) || OFF.has(text.toLowerCase()), { error: "must be on or off" })
  .transform((text) => ON.has(text.toLowerCase()));
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== ""),
);
const url = z.string().refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
  error: "must be an http or https URL",
});
const count = z.string().regex(/^[1-9][0-9]{0,11}$/, { error: "must be a positive whole number" });
/** Positive whole numbers, as text in the environment. */
const number = (fallback: number) => count.transform(Number).default(fallback);
const secret = z
  .string()
  .refine((text) => new TextEncoder().encode(text).length >= 32, { error: "must have at least 32 bytes" });
/** JSON of this shape. What is wrong with it is said without quoting it. */
const json = <T extends z.ZodType>(shape: T, wrong = WRONG_LIMITS) =>
  z.string().transform((text, context) => {
    const parsed = shape.safeParse(parsedJson(text));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: wrong });
    return z.NEVER;
  });
const WRONG_LIMITS = `must be JSON of limits: ${Object.keys(BudgetLimits.shape).join(", ")}`;
const budget = json(BudgetLimits);
const budgets = json(z.record(z.string().min(1).max(255), BudgetLimits));
const Threshold = z.union([
  z.int().nonnegative(),
  z.strictObject({ times: z.number().positive(), least: z.int().nonnegative() }),
]);
const alarms = json(
  z.partialRecord(AlarmName, Threshold),
  `must be JSON of thresholds: ${AlarmName.options.join(", ")}`,
);
/** Where `ALARMS` does not say otherwise. */
export const ALARM_DEFAULTS = {
  trips: { times: 3, least: 10 },
  timeouts: { times: 3, least: 10 },
  modelErrors: { times: 3, least: 20 },
  toolErrors: { times: 3, least: 50 },
  microUsd: { times: 5, least: 1_000_000 },
  requestBytes: 2_000_000,
  queueWaitMs: 600_000,
  lagMs: 60_000,
};
const budgetDoc = (whose: string) =>
  `What ${whose} may spend, as JSON: \`microUsdPerHour\`, \`microUsdPerDay\`, \`tokensPerHour\`, \`tokensPerDay\`, \`concurrentRuns\`.`;

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
const claim = (fallback: string) => z.string().max(255).default(fallback);

const RUN_LIMIT_DOCS: Record<keyof typeof RUN_LIMITS, string> = {
  maxSteps: "Model steps of a run.",
  maxToolErrors: "Tool errors of a run; it trips at this one.",
  maxSameFailure: "How often the same call may fail in the same way.",
  maxRunTokens: "Tokens of a run.",
  maxConversationTokens: "Tokens of a conversation.",
  maxRunMs: "Running time of a run; waiting for people does not count.",
  maxToolMs: "Time of one tool call.",
  maxFirstByteMs: "Time until the model's first byte.",
  maxIdleMs: "Longest silence inside a model's answer.",
  maxModelMs: "Time of one model answer.",
};

export const VARIABLES = {
  ENVIRONMENT: z
    .enum(["development", "production"])
    .default("production")
    .describe("`development` allows the development sign-in, the development key and plain http."),
  DEV_SIGN_IN: flag
    .default(false)
    .describe("`on` opens `POST /dev/token`, which signs anybody in as anybody. Refused in production."),
  JWKS_URL: url.optional().describe("Where your identity provider publishes its public keys. https in production."),
  JWT_SECRET: secret.optional().describe("Instead of `JWKS_URL`: a shared secret (HS256), at least 32 bytes."),
  JWT_ISSUER: z.string().optional().describe("The exact `iss` of your tokens. Needed with `JWKS_URL` or `JWT_SECRET`."),
  JWT_AUDIENCE: list
    .optional()
    .describe("The exact `aud` of your tokens; several with commas. A token for anybody else besides is refused."),
  JWT_ALGORITHMS: list
    .optional()
    .describe("Accepted signature algorithms: `ES256,EdDSA` by default with `JWKS_URL`, `HS256` with `JWT_SECRET`."),
  JWT_TYPES: list
    .default(["at+jwt", "jwt"])
    .describe("Accepted `typ` headers, in any case; `absent` accepts tokens without one."),
  JWT_LEEWAY_S: z
    .string()
    .regex(/^([0-9]|[1-5][0-9]|60)$/, { error: "must be 0 to 60" })
    .transform(Number)
    .default(30)
    .describe("Allowed difference of clocks. The development sign-in has none."),
  JWT_MAX_LIFETIME_S: number(3_600).describe("Longest time from `iat` to `exp` of a token."),
  CLAIM_USER: claim("sub").describe("Claim with the user's id. A dot goes into an object."),
  CLAIM_TENANT: claim("tid").describe("Claim with the tenant's id."),
  CLAIM_ROLES: claim("roles").describe("Claim with the roles: a list of strings."),
  CLAIM_SCOPES: claim("scope").describe("Claim with the scopes: a list of strings, or one with spaces."),
  CLAIM_LOCALE: claim("locale").describe("Claim with the language tag."),
  ALLOWED_ORIGINS: list
    .default([])
    .describe("Origins of browsers that may call, exact, with commas. In development this machine's own origin also."),
  HOLDPOINT_KEY: secret
    .optional()
    .describe("The master secret, at least 32 bytes. Needed in production; development has a public one."),
  OPENAI_API_KEY: z.string().optional().describe("Key of the model. Without it and `OPENAI_BASE_URL`: rehearsal."),
  OPENAI_BASE_URL: url.optional().describe("Any OpenAI-compatible endpoint."),
  OPENAI_MODEL: z.string().max(255).optional().describe("Name of the model."),
  MODEL_PRICES: z.string().optional().describe("Prices by model, in micro-dollars for a million tokens, as JSON."),
  PLANS_REST_URL: url.optional().describe("Keeps the planner's plans in a PostgREST-style gateway, not in D1."),
  PLANS_REST_KEY: z.string().optional().describe("The key of that gateway."),
  LAB_BACKEND_URL: url.optional().describe("Adds the agent `lab`, for rigs and benches. Refused in production."),
  REQUEST_TIMEOUT_MS: number(30_000).describe("Time of one request's work before it is answered 503."),
  CANCEL_GRACE_MS: number(DURATIONS.cancelGraceMs).describe("How long a cancel waits for what is in flight."),
  BACKOFF_MS: number(DURATIONS.backoffMs).describe("How long the first repeat of a tool call waits; then twice that."),
  CONFIRMATION_MS: number(DURATIONS.confirmationMs).describe("How long a confirmation stands, where a tool is silent."),
  WATCHDOG_MS: number(DURATIONS.watchdogMs).describe("Alarm that looks after effects in flight."),
  CHECKPOINT_MS: number(LIMITS.checkpointMs).describe("How often the text of a message in progress is saved."),
  TENANT_BUDGET: budget.default({}).describe(budgetDoc("each tenant")),
  TENANT_BUDGETS: budgets.default({}).describe('The same by tenant, instead: `{"<tenant>": {…}}`.'),
  SERVICE_BUDGET: budget.default({}).describe("The same for the whole service, without `concurrentRuns`."),
  BUDGET_OUTPUT_TOKENS: number(4_096).describe("Tokens of output that a model request reserves."),
  BUDGET_RETRY_MS: number(30_000).describe("How soon a run asks again that waits for what others have reserved."),
  BUDGET_LEASE_MS: number(60_000).describe("How long after its deadline a request's reservation stands."),
  TOOL_CIRCUIT_FAILURES: number(5).describe(
    "Failures in a row, over all runs of a tenant, that open a tool's breaker.",
  ),
  TOOL_CIRCUIT_MS: number(30_000).describe("How long it stays open; calls that a person has approved pass."),
  ALARMS: alarms
    .optional()
    .describe(
      "Thresholds of an hour's figures of a tenant, as JSON: a number, or `{times, least}` of the mean hour before.",
    ),
  COMMAND_BURST: number(RATES.commandBurst).describe("Commands that one person may give one conversation at once."),
  COMMANDS_PER_MINUTE: number(RATES.commandsPerMinute).describe("And how fast that fills up again."),
  OUTBOX_MS: number(30_000).describe(
    "How long after a change the history may be late where an object ends before it has brought it up to date.",
  ),
  ...limitVariables(),
} as const;

function limitVariables() {
  const of = (name: keyof typeof RUN_LIMITS) => number(RUN_LIMITS[name]).describe(RUN_LIMIT_DOCS[name]);
  return {
    maxSteps: of("maxSteps"),
    maxToolErrors: of("maxToolErrors"),
    maxSameFailure: of("maxSameFailure"),
    maxRunTokens: of("maxRunTokens"),
    maxConversationTokens: of("maxConversationTokens"),
    maxRunMs: of("maxRunMs"),
    maxToolMs: of("maxToolMs"),
    maxFirstByteMs: of("maxFirstByteMs"),
    maxIdleMs: of("maxIdleMs"),
    maxModelMs: of("maxModelMs"),
  };
}

export interface VariableRow {
  readonly name: string;
  readonly default: string;
  readonly doc: string;
}

/** One row per variable, in order: what README prints. */
export function variableRows(): VariableRow[] {
  return Object.entries(VARIABLES).map(([name, schema]) => {
    const unset: unknown = schema.safeParse(undefined).data;
    return { name, default: shown(unset), doc: schema.description ?? "" };
  });
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) ? value.join(",") : String(value);
}
