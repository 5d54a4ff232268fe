/** Plumbing that the fake servers share: listening on loopback, bodies, JSON answers, masked credentials. */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { BadRequest, isJsonObject, type JsonObject } from "./json.ts";

/** The only address these servers bind to: they hand out whatever they recorded to anybody who asks. */
export const HOST = "127.0.0.1";

export type Handler = (req: IncomingMessage, res: ServerResponse, url: URL) => Promise<void> | void;
/** By method and path: `POST /transfer`. */
export type Routes = Readonly<Record<string, Handler>>;
export type Listening = { readonly port: number; readonly url: string; readonly close: () => Promise<void> };

/**
 * Starts a server; port 0 picks a free one. Nagle is off, and idle connections are never closed from our side:
 * a client that reuses one just as the server drops it would see an error that no test asked for.
 */
export async function listen(handler: Handler, port = 0): Promise<Listening> {
  const server = createServer({ noDelay: true }, (req, res) => {
    void serve(handler, req, res);
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: HOST, backlog: 4096 }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    port: address.port,
    url: `http://${HOST}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(handler: Handler, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    await handler(req, res, new URL(req.url ?? "/", `http://${HOST}`));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (res.headersSent || res.destroyed) res.destroy();
    else if (error instanceof BadRequest) sendJson(res, 400, { error: { message } });
    else sendJson(res, 500, { error: { message: `bug of the fake server: ${message}` } });
  }
}

/** Null when the client left before it had sent everything. */
export function readBody(req: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => resolve(Buffer.concat(parts)));
    req.on("error", () => resolve(null));
    req.on("close", () => resolve(null));
  });
}

/** A control route: changes something and says ok. */
export function act(change: (body: JsonObject) => void): Handler {
  return async (req, res) => {
    change(await readControl(req));
    sendJson(res, 200, { ok: true });
  };
}

/** The JSON object that a control route expects; an empty body counts as `{}`. */
async function readControl(req: IncomingMessage): Promise<JsonObject> {
  const text = (await readBody(req))?.toString("utf8").trim() ?? "";
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequest("the body is not JSON");
  }
  if (!isJsonObject(value)) throw new BadRequest("the body must be a JSON object");
  return value;
}

/** With its length, so that the client needs no end of connection to stop reading. */
export function sendJson(res: ServerResponse, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  if (res.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(value), "utf8");
  res.writeHead(status, { "content-type": "application/json", "content-length": bytes.length, ...headers });
  res.end(bytes);
}

const SECRET_HEADERS = ["authorization", "proxy-authorization", "x-api-key", "api-key", "apikey", "cookie"];

/** Headers with credentials cut down to their last four characters (or to nothing when they are that short). */
export function maskHeaders(headers: IncomingMessage["headers"]): Record<string, string | string[] | undefined> {
  const copy = { ...headers };
  for (const name of SECRET_HEADERS) {
    const value = copy[name];
    if (typeof value !== "string") continue;
    const space = value.indexOf(" ");
    const secret = value.slice(space + 1);
    copy[name] = `${value.slice(0, space + 1)}***${secret.length > 4 ? secret.slice(-4) : ""}`;
  }
  return copy;
}
