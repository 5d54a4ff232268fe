/** LangGraph's API server as `langgraphjs dev` runs it, without watcher and browser. `node serve.mjs PORT FOLDER` */
import { mkdirSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [port, cwd] = process.argv.slice(2);
const here = import.meta.dirname;
const agent = join(here, "agent.mjs");
mkdirSync(cwd, { recursive: true });
const hooks = join(here, "node_modules/@langchain/langgraph-api/dist/graph/load.hooks.mjs");
register(pathToFileURL(hooks), import.meta.url, {
  parentURL: "data:",
  data: { parentURL: String(pathToFileURL(agent)) },
});
const { startServer } = await import("@langchain/langgraph-api/server");
await startServer({ port: Number(port), nWorkers: 10, host: "127.0.0.1", cwd, graphs: { agent: `${agent}:graph` } });
