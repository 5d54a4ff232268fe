import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatBody, postJson, readSse, user } from "./calls.ts";
import { startFakeProvider, type FakeProvider } from "./fake-provider.ts";
import { split } from "./plan.ts";
import { openFixtures } from "./stream-fixtures.ts";
import { postOverWire, until, type Wire } from "./wire.ts";

const library = openFixtures();
let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider({ timeScale: 0.01 });
});
afterAll(() => provider.close());

const chatOverWire = (scope: string): Wire => postOverWire(provider.port, "/v1/chat/completions", chatBody(scope));

describe.concurrent("the fake provider plays fixtures", () => {
  it.each(library.names())("%s byte for byte, in the planned writes", async (name) => {
    const fixture = library.get(name);
    const { writes } = split(fixture.bytes, fixture.split_at, fixture.delays_ms);
    // A hold of minutes, scaled, is still longer than this test looks at it.
    const holds = fixture.end.mode === "hold";
    provider.script({ scope: name, queue: [{ fixture: name }] });
    const wire = chatOverWire(name);
    await until(() => wire.chunks.length >= writes.length || wire.end, "all writes");
    expect(wire.status).toBe(fixture.http_status);
    expect(wire.headers["content-type"]).toBe(fixture.headers["content-type"]);
    expect(wire.chunks.map(String)).toEqual(writes.map((write) => Buffer.from(write).toString()));
    expect(createHash("sha256").update(Buffer.concat(wire.chunks)).digest("hex")).toBe(fixture.sha256);
    if (!holds) await until(() => wire.end, "the end");
    wire.destroy();
    const record = await until(() => provider.requests(name).find(({ endedBy }) => endedBy), "the exchange is over");
    expect(record).toMatchObject({ endedBy: holds ? "client" : "server", complete: true });
  });

  it("in one write, and one byte per write", async () => {
    const { bytes } = library.get("S19");
    const queue = [{ fixture: "S19", writes: "single" } as const, { fixture: "S19", writes: "bytewise" } as const];
    provider.script({ scope: "framing", queue });
    for (const writes of [1, bytes.length]) {
      const wire = chatOverWire("framing");
      await until(() => wire.end, "the end");
      expect(wire.chunks).toHaveLength(writes);
      expect(Buffer.concat(wire.chunks)).toEqual(bytes);
      wire.destroy();
    }
  });
});

describe.concurrent("the fake provider ends a connection as scripted", () => {
  it("properly when a hold is over, with heartbeats in between", async () => {
    const end = { mode: "hold", ms: 6_000, heartbeat: { text: ": hb\n\n", every_ms: 1_000 } } as const;
    provider.script({ scope: "beat", queue: [{ raw: "data: [DONE]\n\n", end }] });
    const wire = chatOverWire("beat");
    await until(() => wire.end, "the end of the hold");
    expect(wire.end).toBe("complete");
    expect(wire.chunks.map(String)).toEqual(["data: [DONE]\n\n", ...Array.from({ length: 5 }, () => ": hb\n\n")]);
    wire.destroy();
  });

  it("cuts after so many bytes, or between two writes", async () => {
    const queue = [
      { fixture: "common_text", destroyAfterBytes: 200 },
      { fixture: "common_propose_transfer", destroyAfterWrites: 4 },
    ];
    provider.script({ scope: "cut", queue });
    const first = chatOverWire("cut");
    await until(() => first.end, "the cut");
    expect(first.end).toBe("cut");
    expect(Buffer.concat(first.chunks)).toEqual(library.get("common_text").bytes.subarray(0, 200));
    const second = chatOverWire("cut");
    await until(() => second.end, "the cut");
    expect(second.end).toBe("cut");
    expect(second.chunks).toHaveLength(4);
    expect(provider.requests("cut").map(({ endedBy }) => endedBy)).toEqual(["server_destroyed", "server_destroyed"]);
  });

  it("sends nothing, or only the head, until the client leaves", async () => {
    provider.script({ scope: "hang", queue: [{ hang: true }, { hang: "headers" }] });
    for (const [i, status] of [0, 200].entries()) {
      const wire = chatOverWire("hang");
      await until(() => provider.requests("hang").length === i + 1 && wire.status === status, "the request");
      expect(wire).toMatchObject({ chunks: [], end: null });
      wire.destroy();
    }
    await until(() => provider.stats("hang").abortedByClient === 2, "both were left by the client");
  });

  it("cuts a hang that has an end", async () => {
    provider.script({ scope: "hang-ms", queue: [{ hang: true, ms: 5_000 }] });
    const wire = chatOverWire("hang-ms");
    await until(() => wire.end, "the cut");
    expect(wire.status).toBe(0);
    expect(provider.requests("hang-ms")[0]?.endedBy).toBe("server_destroyed");
  });

  it("records a client that leaves, with the time and what had been sent", async () => {
    provider.script({ scope: "leave", queue: [{ text: "a b c d e f", delayMs: 10_000 }] });
    const wire = chatOverWire("leave");
    await until(() => wire.chunks.length > 0, "the first write");
    expect(provider.stats("leave").inFlight).toBe(1);
    wire.destroy();
    const record = await until(() => provider.requests("leave").find(({ endedBy }) => endedBy), "the close");
    expect(record).toMatchObject({ endedBy: "client", complete: false });
    expect(record.bytesWritten).toBeGreaterThan(0);
    expect(record.clientClosedAfterMs).toBeGreaterThan(10);
    expect(provider.stats("leave")).toMatchObject({ inFlight: 0, abortedByClient: 1 });
  });
});

describe.concurrent("load mode", () => {
  const numbers = (text: string) =>
    [...text.matchAll(/#(\d+)@(\d+\.\d+)/g)].map(([, seq, at]) => ({ seq: Number(seq), at: Number(at) }));

  it("sends N deltas, numbered and stamped, each a write of its own, then usage", async () => {
    const wire = chatOverWire("load:300:0");
    await until(() => wire.end, "the end");
    wire.destroy();
    const { content, usage } = readSse(Buffer.concat(wire.chunks).toString());
    const stamps = numbers(content);
    expect(stamps.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(stamps.every(({ at }, i) => at >= (stamps[i - 1]?.at ?? 0))).toBe(true);
    expect(usage?.completion_tokens).toBe(300);
    expect(wire.chunks).toHaveLength(1 + 300 + 2);
  });

  it("serves many at once with padding, gives way to a script, and comes whole without streaming", async () => {
    const model = "load:50:0.1:100#one";
    provider.script({ scope: model, queue: [{ text: "scripted" }] });
    const ask = async (more = {}) =>
      (await postJson(`${provider.baseUrl}/chat/completions`, chatBody(model, [user("hi")], more))).text();
    expect(readSse(await ask()).content).toBe("scripted");
    for (const text of await Promise.all(Array.from({ length: 20 }, () => ask()))) {
      expect(numbers(readSse(text).content)).toHaveLength(50);
      expect(text.length).toBeGreaterThan(50 * 100);
    }
    const whole: { choices: { message: { content: string } }[] } = JSON.parse(await ask({ stream: false }));
    expect(numbers(whole.choices[0]?.message.content ?? "")).toHaveLength(50);
  });

  it("stops when the reader leaves", async () => {
    const wire = chatOverWire("load:100000:1");
    await until(() => wire.chunks.length > 1, "the first delta");
    wire.destroy();
    const record = await until(() => provider.requests("load:100000:1").find(({ endedBy }) => endedBy), "the close");
    expect(record).toMatchObject({ endedBy: "client", complete: false });
  });
});
