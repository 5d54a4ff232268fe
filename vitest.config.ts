import { readFile } from "node:fs/promises";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Tenants of the Worker's tests that have little, each for one purpose; all others have no limits. */
const TENANT_BUDGETS = {
  "few tokens": { tokensPerHour: 3_000 },
  "one call": { tokensPerHour: 600 },
  "fifty runs": { tokensPerHour: 20_000 },
  "random ends": { tokensPerHour: 100_000_000 },
  "turn by turn": { tokensPerHour: 2_200 },
  "two at once": { concurrentRuns: 2 },
  warned: { tokensPerDay: 4_000 },
};

/** In plain Node, `.sql` files are text modules too, as wrangler makes them for the Worker. */
const sqlAsText = {
  name: "sql-as-text",
  enforce: "pre" as const,
  async load(id: string) {
    const path = id.split("?", 1)[0] ?? id;
    return path.endsWith(".sql") ? `export default ${JSON.stringify(await readFile(path, "utf8"))};` : undefined;
  },
};

export default defineConfig({
  test: {
    // The service's log of a test that failed; of the others it would hide what failed.
    silent: "passed-only",
    // A test waits more than it computes; the default leaves a processor free, which on two is half of them.
    maxWorkers: "100%",
    projects: [
      {
        plugins: [sqlAsText],
        test: {
          name: "core",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/worker/**", "test/crash-points/**"],
        },
      },
      {
        plugins: [
          // A function, so that `inject` can hand bindings what test/worker/global-setup.ts provides.
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              cf: false,
              bindings: {
                OPENAI_BASE_URL: `${inject("modelProvider")}/v1`,
                OPENAI_API_KEY: "test",
                LAB_BACKEND_URL: inject("labBackend"),
                CANCEL_GRACE_MS: "1000",
                BACKOFF_MS: "50",
                WATCHDOG_MS: "1000",
                CHECKPOINT_MS: "50",
                OUTBOX_MS: "200",
                TENANT_BUDGETS: JSON.stringify(TENANT_BUDGETS),
                BUDGET_OUTPUT_TOKENS: "400",
                BUDGET_RETRY_MS: "300",
                BUDGET_LEASE_MS: "1000",
                // The faults of many tests at once are no sign that a tool is down for everybody.
                TOOL_CIRCUIT_FAILURES: "100000",
              },
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          globalSetup: ["test/worker/global-setup.ts"],
          testTimeout: 30_000,
        },
      },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: "./test/crash-points/entry.ts",
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              cf: false,
              bindings: {
                OPENAI_BASE_URL: `${inject("modelProvider")}/v1`,
                OPENAI_API_KEY: "the-key-is-not-a-secret",
                LAB_BACKEND_URL: inject("labBackend"),
                CANCEL_GRACE_MS: "200",
                BACKOFF_MS: "20",
                WATCHDOG_MS: "300",
                CHECKPOINT_MS: "5",
                OUTBOX_MS: "100",
              },
            },
          })),
        ],
        test: {
          name: "crash-points",
          include: ["test/crash-points/**/*.test.ts"],
          globalSetup: ["test/crash-points/global-setup.ts"],
          testTimeout: 900_000,
          maxConcurrency: 10,
        },
      },
    ],
  },
});
