/** The runtime's binary: the one that Miniflare uses, and with it everything else in this project. */
import { createRequire } from "node:module";

export function runtimeBinary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const { default: path } = require("workerd") as { default: string };
  return path;
}
