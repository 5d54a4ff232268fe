/** Which variables are set, by their fingerprints, and whether a service would start with them. */
import { readSettings, SettingsRefused } from "../../src/edge/settings.ts";
import { PASSED_TO_WORKER } from "../settings.ts";
import { finding, fingerprint, type Finding } from "./finding.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** @param defaults what `wrangler.toml` sets for a local start */
export function variables(env: Environment, defaults: Environment): Finding[] {
  const set = [...new Set(PASSED_TO_WORKER)].filter((name) => env[name]);
  const shown = set.map((name) => {
    const value = env[name] ?? "";
    const blank = value !== value.trim();
    const says = `set, ${value.length} characters, ${fingerprint(value)}`;
    return finding(name, blank ? "odd" : "ok", blank ? `${says}: it begins or ends with a blank` : says);
  });
  const given = Object.fromEntries(set.map((name) => [name, env[name]]));
  return [...shown, ...settings({ ...defaults, ...given })];
}

function settings(env: Environment): Finding[] {
  try {
    const { environment, signIn } = readSettings(env);
    const who = signIn === null ? "the development sign-in" : `tokens of ${signIn.keys.kind}`;
    return [finding("settings", "ok", `${environment}, with ${who}`)];
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    return error.reasons.map((reason) => finding("settings", "wrong", reason));
  }
}

/** The `[vars]` of a `wrangler.toml`: text and flags, one in a line. */
export function varsIn(toml: string): Environment {
  const section = /^\[vars\]\n([\s\S]*?)(?:^\[|(?![\s\S]))/m.exec(toml)?.[1] ?? "";
  return Object.fromEntries(
    [...section.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}
