import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "../.."),
  test: { include: ["test/live/**/*.live.ts"], testTimeout: 20 * 60_000, fileParallelism: false },
});
