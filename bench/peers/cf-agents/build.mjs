/** Bundles the worker for a plain runtime. Run where the packages are installed. */
import { build } from "esbuild";

const BUILT_IN =
  /^(async_hooks|buffer|crypto|events|fs|http|https|net|os|path|process|stream|tls|url|util|zlib|assert|child_process|string_decoder|diagnostics_channel|timers|module|tty|dns)$/;

await build({
  entryPoints: ["worker.mjs"],
  bundle: true,
  format: "esm",
  outfile: "dist/worker.js",
  external: ["cloudflare:workers", "cloudflare:sockets", "cloudflare:workflows", "node:*"],
  conditions: ["workerd", "worker", "browser", "import"],
  platform: "neutral",
  mainFields: ["browser", "module", "main"],
  target: "es2022",
  plugins: [
    {
      name: "runtime",
      setup(plugins) {
        // A plain runtime has no such module; the agent sends no mail.
        plugins.onResolve({ filter: /^cloudflare:email$/ }, () => ({ path: "email", namespace: "none" }));
        plugins.onLoad({ filter: /./, namespace: "none" }, () => ({ contents: "export class EmailMessage {}" }));
        plugins.onResolve({ filter: BUILT_IN }, ({ path }) => ({ path: `node:${path}`, external: true }));
      },
    },
  ],
});
