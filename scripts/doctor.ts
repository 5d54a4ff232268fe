/**
 * `npm run doctor [-- --url https://…]`: what a deployment of these variables would depend on: packages, variables (by
 * their fingerprints, never their values), the model's gateway, the plans' gateway, the sign-in's keys; with `--url`
 * also whether a running service is alive and able to work. One request to each, none of which changes anything.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dependencies } from "./doctor/dependencies.ts";
import { probes } from "./doctor/probes.ts";
import { variables, varsIn } from "./doctor/variables.ts";
import { finish } from "./report.ts";

const root = join(import.meta.dirname, "..");
const { url } = parseArgs({ options: { url: { type: "string" } } }).values;
const defaults = varsIn(readFileSync(join(root, "wrangler.toml"), "utf8"));
const MARKS = { ok: "✓", odd: "!", wrong: "✗", none: "·" } as const;

const findings = [...dependencies(root), ...variables(process.env, defaults), ...(await probes(process.env, url))];
for (const { about, state, says } of findings) console.log(`${MARKS[state]} ${about}: ${says}`);
const of = (wanted: string) => findings.filter(({ state }) => state === wanted).map(({ about }) => about);
const wrong = of("wrong");
finish(wrong.length === 0, { wrong, odd: of("odd"), looked: findings.length });
