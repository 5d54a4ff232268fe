import { VARIABLES } from "../src/edge/variables.ts";

/** Beside the service's own: what single agents and the price table read. */
const OF_ADAPTERS = ["MODEL_PRICES", "PLANS_REST_URL", "PLANS_REST_KEY"];

/** Settings of a local start, read from the environment and handed to the Worker as bindings when they are set. */
export const PASSED_TO_WORKER: readonly string[] = [...Object.keys(VARIABLES), ...OF_ADAPTERS];

/** Keeps wrangler to its work: it sends nothing, asks nothing, looks for no update and writes no log of its own. */
export const QUIET_WRANGLER: Readonly<Record<string, string>> = {
  CI: "1",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
};

/** Run with `process.execPath`: found without PATH, and on the Node.js that runs the script. */
export const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
