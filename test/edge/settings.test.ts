import { describe, expect, it } from "vitest";
import { readSettings, SettingsRefused } from "../../src/edge/settings.ts";
import { DEVELOPMENT_KEY, VARIABLES, variableRows } from "../../src/edge/variables.ts";
import { RUN_LIMITS } from "../../src/protocol/limits.ts";

const KEY = "k".repeat(32);
const production = {
  ENVIRONMENT: "production",
  HOLDPOINT_KEY: KEY,
  JWKS_URL: "https://id.example.com/jwks.json",
  JWT_ISSUER: "https://id.example.com/",
  JWT_AUDIENCE: "holdpoint",
};
const reasonsOf = (env: Record<string, unknown>): readonly string[] => {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.reasons;
    throw error;
  }
  return [];
};

describe("settings", () => {
  it("take a production configuration", () => {
    const settings = readSettings(production);
    expect(settings.environment).toBe("production");
    expect(settings.devSignIn).toBe(false);
    expect(settings.signIn?.rules.algorithms).toEqual(["ES256", "EdDSA"]);
    expect(settings.signIn?.rules.leewaySeconds).toBe(30);
    expect(settings.runLimits).toEqual(RUN_LIMITS);
  });

  it("refuse the development sign-in in production, in these words", () => {
    expect(reasonsOf({ ...production, DEV_SIGN_IN: "on" })).toEqual([
      "The service refuses to start with the development sign-in when ENVIRONMENT=production",
    ]);
  });

  it.each(["on", "ON", "true", "1", "yes"])("understand DEV_SIGN_IN=%s as on", (DEV_SIGN_IN) => {
    expect(readSettings({ ENVIRONMENT: "development", DEV_SIGN_IN }).devSignIn).toBe(true);
  });

  it("take production to be meant where nothing is said", () => {
    expect(reasonsOf({ DEV_SIGN_IN: "on" })).toContain(
      "The service refuses to start with the development sign-in when ENVIRONMENT=production",
    );
  });

  it.each([
    ["the lab's backend in production", { LAB_BACKEND_URL: "http://127.0.0.1:1" }, /LAB_BACKEND_URL/],
    ["production without a key", { HOLDPOINT_KEY: "" }, /HOLDPOINT_KEY is needed/],
    ["production with the development key", { HOLDPOINT_KEY: DEVELOPMENT_KEY }, /everybody can read/],
    ["a short key", { HOLDPOINT_KEY: "short" }, /at least 32 bytes/],
    ["keys of the identity provider over plain http", { JWKS_URL: "http://id.example.com" }, /must be https/],
    ["a key set that is no web address", { JWKS_URL: "file:///etc/passwd" }, /JWKS_URL/],
    ["no way to sign in", { JWKS_URL: "" }, /Nobody could sign in/],
    ["two ways at once", { JWT_SECRET: KEY }, /not both/],
    ["no issuer", { JWT_ISSUER: "" }, /JWT_ISSUER/],
    ["no audience", { JWT_AUDIENCE: "" }, /JWT_AUDIENCE/],
    ["a shared-secret algorithm for published keys", { JWT_ALGORITHMS: "ES256,HS256" }, /JWT_ALGORITHMS/],
    ["no algorithm", { JWT_ALGORITHMS: "none" }, /JWT_ALGORITHMS/],
    ["a leeway of hours", { JWT_LEEWAY_S: "3600" }, /JWT_LEEWAY_S/],
    ["an origin with a path", { ALLOWED_ORIGINS: "https://app.example.com/" }, /ALLOWED_ORIGINS/],
    ["every origin", { ALLOWED_ORIGINS: "*" }, /ALLOWED_ORIGINS/],
    ["a limit of nothing", { maxSteps: "0" }, /maxSteps/],
    ["a limit that is no number", { maxSteps: "25 steps" }, /maxSteps/],
    ["an environment of another name", { ENVIRONMENT: "staging" }, /ENVIRONMENT/],
    ["a switch that is neither on nor off", { DEV_SIGN_IN: "maybe" }, /DEV_SIGN_IN/],
  ])("refuse %s", (_, change, reason) => {
    const reasons = reasonsOf({ ...production, ...change });
    expect(reasons.some((text) => reason.test(text))).toBe(true);
  });

  it("name everything that is wrong, and never a value", () => {
    const reasons = reasonsOf({ ENVIRONMENT: "production", DEV_SIGN_IN: "on", JWT_SECRET: `canary-${KEY}` });
    expect(reasons.length).toBeGreaterThan(2);
    expect(reasons.join()).not.toContain("canary");
  });

  it("raise limits and times by the names of their table", () => {
    const settings = readSettings({
      ...production,
      maxSteps: "3",
      CANCEL_GRACE_MS: "200",
      BACKOFF_MS: "50",
      REQUEST_TIMEOUT_MS: "1000",
    });
    expect(settings.runLimits.maxSteps).toBe(3);
    expect(settings.cancelGraceMs).toBe(200);
    expect(settings.backoffMs).toBe(50);
    expect(settings.requestTimeoutMs).toBe(1_000);
  });

  it("document every variable, with the default that it has", () => {
    const rows = variableRows();
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(VARIABLES));
    expect(rows.filter(({ doc }) => doc.length < 10)).toEqual([]);
    expect(rows.find(({ name }) => name === "maxSteps")?.default).toBe("25");
    expect(rows.find(({ name }) => name === "DEV_SIGN_IN")?.default).toBe("off");
    expect(JSON.stringify(rows)).not.toContain(DEVELOPMENT_KEY);
  });
});
