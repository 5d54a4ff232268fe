/**
 * `npm run incident`: plays the incident of the 32 steps with the breakers off and on, and writes docs/incident.md.
 * Needs nothing but this machine.
 *
 *   --check   writes nothing, and fails where the page is not what was seen now
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { page, settled } from "../rigs/incident/page.ts";
import { playPairs } from "../rigs/incident/pairs.ts";
import { finish } from "./report.ts";

const { check } = parseArgs({ options: { check: { type: "boolean", default: false } } }).values;
const FILE = join(import.meta.dirname, "../docs/incident.md");

const pairs = await playPairs();
const text = page(pairs);
const same = !check || settled(readFileSync(FILE, "utf8")) === settled(text);
if (!check) {
  writeFileSync(FILE, text);
  execFileSync(join(import.meta.dirname, "../node_modules/.bin/oxfmt"), [FILE]);
}
finish(same, { page: "docs/incident.md", pairs });
