import { readFile } from "node:fs/promises";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

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
    projects: [
      {
        plugins: [sqlAsText],
        test: {
          name: "core",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/worker/**"],
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
    ],
  },
});
