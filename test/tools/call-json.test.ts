import { createServer, type ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { callJson } from "../../src/tools/call-json.ts";
import { AmbiguousOutcome } from "../../src/tools/outcome.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function answering(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((_, res) => answer(res));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}/`;
}

const post = (url: string, signal = new AbortController().signal) =>
  callJson({ fetch, url, method: "POST", body: { a: 1 }, signal });
const doubt = async (url: string) => {
  const error: unknown = await post(url).catch((thrown: unknown) => thrown);
  if (!(error instanceof AmbiguousOutcome)) throw new Error(`not in doubt: ${String(error)}`);
  return error.failure;
};

test.each([200, 201, 400, 401, 404, 409, 422])(
  "a whole answer with status %i is what the other side said",
  async (status) => {
    const url = await answering((res) => res.writeHead(status).end('{"code":"X"}'));
    expect(await post(url)).toEqual({ status, body: { code: "X" }, text: '{"code":"X"}' });
  },
);

test("an empty body is no body", async () => {
  expect(await post(await answering((res) => res.writeHead(204).end()))).toEqual({
    status: 204,
    body: undefined,
    text: "",
  });
});

test("a 5xx leaves it open, with the other side's own code where it has one", async () => {
  const named = await answering((res) => res.writeHead(503).end('{"code":"DB_DOWN"}'));
  expect(await doubt(named)).toMatchObject({
    code: "DB_DOWN",
    retryable: true,
    layer: "gateway",
    http: { status: 503 },
  });
  const page = await answering((res) => res.writeHead(502).end("<html>bad gateway</html>"));
  expect(await doubt(page)).toMatchObject({ code: "GATEWAY_UNAVAILABLE", http: { status: 502 } });
});

test("a 408 leaves it open: somebody on the way had waited long enough", async () => {
  const late = await answering((res) => res.writeHead(408).end());
  expect(await doubt(late)).toMatchObject({ code: "GATEWAY_UNAVAILABLE", retryable: true, http: { status: 408 } });
});

test.each([425, 429])("a %i leaves it open: it asks for the same request again", async (status) => {
  const busy = await answering((res) => res.writeHead(status).end('{"code":"BUSY"}'));
  expect(await doubt(busy)).toMatchObject({ code: "BUSY", retryable: true, layer: "gateway", http: { status } });
});

test("what a backend is known to say before it acts is its word, and no other status with it", async () => {
  const call = async (status: number) => {
    const url = await answering((res) => res.writeHead(status).end('{"code":"BUSY"}'));
    const { signal } = new AbortController();
    return callJson({ fetch, url, method: "POST", body: {}, signal, beforeActing: [429, 503] });
  };
  expect(await call(429)).toMatchObject({ status: 429 });
  expect(await call(503)).toMatchObject({ status: 503 });
  await expect(call(425)).rejects.toBeInstanceOf(AmbiguousOutcome);
  await expect(call(502)).rejects.toBeInstanceOf(AmbiguousOutcome);
});

test("a success that cannot be read leaves it open", async () => {
  const page = await answering((res) => res.writeHead(200).end("<html>hello</html>"));
  expect(await doubt(page)).toMatchObject({ code: "GATEWAY_BAD_RESPONSE", layer: "gateway" });
  const cut = await answering((res) => {
    res.writeHead(200, { "content-length": "100" }).write('{"ok":');
    setImmediate(() => res.destroy());
  });
  expect(await doubt(cut)).toMatchObject({ code: "GATEWAY_UNAVAILABLE", layer: "transport" });
  const endless = await answering((res) => {
    res.on("error", () => {});
    const more = (): void => void (res.write("x".repeat(262_144)) ? setImmediate(more) : res.once("drain", more));
    more();
  });
  expect(await doubt(endless)).toMatchObject({ code: "GATEWAY_BAD_RESPONSE" });
});

test("nobody listening leaves it open too: what is known is only that no answer came", async () => {
  expect(await doubt("http://127.0.0.1:1/")).toMatchObject({ code: "GATEWAY_UNAVAILABLE", layer: "transport" });
});

test("a redirect is not followed: it would be sent twice", async () => {
  let requests = 0;
  const url = await answering((res) => {
    requests++;
    res.writeHead(307, { location: "/" }).end();
  });
  expect((await post(url)).status).toBe(307);
  expect(requests).toBe(1);
});

test("an abort is told as the abort that it is", async () => {
  const abort = new AbortController();
  const pending = post(await answering(() => abort.abort()), abort.signal);
  await expect(pending).rejects.toMatchObject({ name: "AbortError" });
});
