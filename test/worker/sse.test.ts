/** Streams as a client of HTTP sees them: cases S45 and S61 to S64, and one conversation seen in three ways. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { isTerminal } from "../../src/protocol/events.ts";
import { agree, eventsOverRest } from "./harness/agreement.ts";
import { provider } from "./harness/fakes.ts";
import { signIn, type Person } from "./harness/people.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";
import { Listener } from "./sse/listener.ts";

const SLOW = { fixture: "common_slow_text" } as const;
const TRANSFER = { fixture: "common_propose_transfer" } as const;
const pathOf = (talk: Talk) => `/v1/conversations/${talk.id}/events`;
const body = { input: { text: "go on" } };

/** With the conversation's own key: the register is the tenant's. */
const start = (talk: Talk, listener: Listener, person: Person = talk.person) =>
  listener.open(person, `/v1/conversations/${talk.id}/runs`, {
    method: "POST",
    headers: { "idempotency-key": talk.scope },
    body,
  });
const sockets = async (talk: Talk): Promise<number> =>
  runInDurableObject(await talk.stub(), (_object, state) => state.getWebSockets().length);

describe("S45: a client that posts its start again", () => {
  test.concurrent("attaches to the run that there is, from where it was", async () => {
    const talk = await Talk.open({ answers: [SLOW] });
    const listener = new Listener();
    let durable = 0;
    listener.cutAfter = ({ id }) => id !== undefined && ++durable === 3;
    const first = await start(talk, listener);
    expect(first.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    await listener.until("the third event", () => durable === 3);
    const again = await start(talk, listener);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    await listener.until("the end", () => listener.ended);
    expect(listener.view.repeats).toBe(0);
    expect(listener.events).toEqual((await eventsOverRest(talk)).slice(1));
    expect(listener.events.at(-1)?.type).toBe("run.completed");
    expect(await talk.requests()).toHaveLength(1);
    expect((await talk.person.client.runs(talk.id)).data).toHaveLength(1);
    await agree(talk);
  });

  test.concurrent("without its last id hears the run from its beginning", async () => {
    const talk = await Talk.open({ answers: [COMMON_TEXT, COMMON_TEXT] });
    await talk.play("the run before");
    const [one, two] = [new Listener(), new Listener()];
    await start(talk, one);
    await one.until("the end", () => one.ended);
    await start(talk, two);
    await two.until("the end", () => two.ended);
    expect(one.events[0]?.type).toBe("run.queued");
    expect(two.events).toEqual(one.events);
    expect(await talk.requests()).toHaveLength(2);
    await agree(talk);
  });

  test.concurrent("without a key is refused, and another's key is not revealed", async () => {
    const talk = await Talk.open({ answers: [COMMON_TEXT] });
    const keyless = await new Listener().open(talk.person, `/v1/conversations/${talk.id}/runs`, {
      method: "POST",
      body,
    });
    expect([keyless.status, await keyless.json()]).toMatchObject([400, { code: "idempotency_key_missing" }]);
    await talk.play();
    const stranger = await start(talk, new Listener(), await signIn());
    expect([stranger.status, await stranger.json()]).toMatchObject([404, { code: "not_found" }]);
    expect(await talk.requests()).toHaveLength(1);
    await agree(talk);
  });
});

describe("a start that is streamed", () => {
  test.concurrent("ends where the run waits, and the run's own stream goes on to its end", async () => {
    const talk = await Talk.open({ answers: [TRANSFER, COMMON_TEXT] });
    const starting = new Listener();
    await start(talk, starting);
    await starting.until("its end", () => starting.ended);
    const asked = starting.events.at(-1);
    expect(asked).toMatchObject({ type: "run.interrupted", data: { needsConfirmation: true } });
    const run = await talk.person.client.run(asked?.runId ?? "");
    const following = new Listener(starting.lastId);
    await following.open(talk.person, `/v1/runs/${run.id}/events`);
    await talk.decide(run, run.pending[0], "approve");
    await following.until("its end", () => following.ended);
    expect(following.events.at(-1)?.type).toBe("run.completed");
    // Posted again now, it hears the whole of it: it waited, and was answered.
    const late = new Listener();
    await start(talk, late);
    await late.until("its end", () => late.ended);
    expect(late.events).toEqual([...starting.events, ...following.events]);
    const over = await new Listener(late.lastId).open(talk.person, `/v1/runs/${run.id}/events`);
    expect(over.status).toBe(204);
    await agree(talk);
  });

  test.concurrent("has one terminal event, its last, with the code that the run has (S64)", async () => {
    for (const [answers, code] of [
      [[COMMON_TEXT], "final_answer"],
      [[{ status: 500 }], "model_error"],
      [[{ toolCalls: [{ name: "always_fail", arguments: { q: "x" } }] }, COMMON_TEXT], "final_answer"],
      [[{ fixture: "S09_eof_mid_tool_call" }], "model_protocol_error"],
    ] as const) {
      const talk = await Talk.open({ answers });
      const listener = new Listener();
      await start(talk, listener);
      await listener.until("the end", () => listener.ended);
      const ends = listener.events.filter(({ type }) => isTerminal(type));
      expect(ends).toEqual([listener.events.at(-1)]);
      expect(ends).toMatchObject([{ data: { stop: { code } } }]);
      const { stop } = await talk.person.client.run(ends[0]?.runId ?? "");
      expect(ends).toMatchObject([{ data: { stop } }]);
      await agree(talk);
    }
  });
});

describe("S62: a stream that is cut and resumed", () => {
  test.concurrent("at every event loses none and repeats none", async () => {
    const talk = await Talk.open({ answers: [SLOW, TRANSFER, COMMON_TEXT] });
    const listener = new Listener(talk.beginning);
    listener.cutAfter = ({ id }) => id !== undefined;
    listener.comesBack = true;
    await listener.open(talk.person, pathOf(talk));
    const played = await talk.play();
    const { run, calls } = await talk.ask();
    await talk.decide(run, calls[0], "approve");
    await talk.ended(run);
    await listener.until("the head", () => listener.lastId === talk.watcher.view.cursor);
    await listener.cut();
    const all = await eventsOverRest(talk);
    expect(listener.events).toEqual(all);
    expect(listener.view).toMatchObject({ gaps: 0, repeats: 0 });
    expect(played.run.status).toBe("completed");
    expect(listener.opened).toBeGreaterThan(all.length);
    await agree(talk);
  });

  test.concurrent("in the middle of a text has the whole text in the end", async () => {
    const talk = await Talk.open({ answers: [SLOW] });
    const listener = new Listener(talk.beginning);
    let previews = 0;
    listener.cutAfter = ({ id }) => id === undefined && ++previews % 5 === 0;
    const texts: string[] = [];
    listener.comesBack = true;
    await listener.open(talk.person, pathOf(talk));
    const { run } = await talk.play();
    await listener.until("the end", () => listener.events.some(({ type }) => type === "run.completed"));
    await listener.cut();
    for (const event of listener.events) {
      if (event.type !== "message.completed") continue;
      for (const part of event.data.message.parts) if (part.type === "text") texts.push(part.text);
    }
    expect(texts.join("")).toBe(Array.from({ length: 60 }, (_, n) => `w${String(n).padStart(2, "0")} `).join(""));
    expect(listener.ofType("partial").length).toBeGreaterThan(0);
    expect(listener.view).toMatchObject({ gaps: 0, repeats: 0 });
    expect(run.status).toBe("completed");
    await agree(talk);
  });
});

describe("S63: a cursor that is none of this stream's", () => {
  test.concurrent.for(["-1", "abc", "1.5", "", "3", "1000000000"])("%j is refused", async (bad) => {
    const talk = await Talk.open();
    for (const path of [pathOf(talk), `/v1/runs/${talk.id}.r1/events`]) {
      const inHeader = await new Listener(bad).open(talk.person, path);
      expect([inHeader.status, await inHeader.json()]).toMatchObject([422, { code: "cursor_invalid" }]);
      const inQuery = await new Listener().open(talk.person, `${path}?after=${encodeURIComponent(bad)}`);
      expect([inQuery.status, await inQuery.json()]).toMatchObject([422, { code: "cursor_invalid" }]);
    }
  });

  test.concurrent("from the future, or of another conversation, is told so, and what follows arrives", async () => {
    const [talk, other] = [await Talk.open(), await Talk.open()];
    for (const [cursor, reason] of [
      [`${talk.generation}.1000000000`, "ahead_of_head"],
      [other.beginning, "other_generation"],
    ] as const) {
      const listener = new Listener(cursor);
      await listener.open(talk.person, pathOf(talk));
      await listener.until("the reset", () => listener.ofType("reset").length === 1);
      expect(listener.heard).toMatchObject([{ type: "reset", data: { reason, snapshot: { id: talk.id } } }]);
      const { run } = await talk.play();
      await listener.until("the run's end", () => listener.events.some(({ type }) => type === "run.completed"));
      expect(listener.events.at(-1)?.runId).toBe(run.id);
      expect(listener.view.gaps).toBe(0);
      await listener.cut();
    }
    await agree(talk);
  });

  test.concurrent("of a run's stream that is over ends with the reset", async () => {
    const talk = await Talk.open();
    const { run } = await talk.play();
    const listener = new Listener(`${talk.generation}.1000000000`);
    await listener.open(talk.person, `/v1/runs/${run.id}/events`);
    await listener.until("the end", () => listener.ended);
    expect(listener.heard).toMatchObject([{ type: "reset", data: { reason: "ahead_of_head" } }]);
  });
});

describe("S61: a client that goes away", () => {
  test.concurrent("takes its socket with it, and neither the run nor the others notice", async () => {
    const talk = await Talk.open({ answers: [SLOW] });
    const [gone, stays] = [new Listener(), new Listener(talk.beginning)];
    await stays.open(talk.person, pathOf(talk));
    await start(talk, gone);
    await gone.until("a preview", () => gone.ofType("delta")[0]);
    expect(await sockets(talk)).toBe(3);
    await gone.cut();
    await expect.poll(() => sockets(talk)).toBe(2);
    await stays.until("the end", () => stays.events.some(({ type }) => type === "run.completed"));
    expect(stays.view).toMatchObject({ gaps: 0, repeats: 0 });
    await stays.cut();
    await expect.poll(() => sockets(talk)).toBe(1);
    await agree(talk);
  });
});

describe("one conversation", () => {
  test.concurrent("is the same over two sockets and a stream, whatever its text looks like", async () => {
    const forged = 'data: {"seq":99}\n\nid: abcdefgh.99\nevent: run.completed\r\n\r\ndata: {}\n\n: \u2028\u0000';
    const talk = await Talk.open({ answers: [{ text: forged, chunks: 7 }, TRANSFER, COMMON_TEXT] });
    const second = await talk.newWatcher().connect();
    const listener = new Listener(talk.beginning);
    await listener.open(talk.person, pathOf(talk));
    await talk.play();
    const { run, calls } = await talk.ask();
    await talk.decide(run, calls[0], "approve");
    await talk.ended(run);
    const head = talk.watcher.view.cursor;
    await second.until("the head", () => second.view.cursor === head);
    await listener.until("the head", () => listener.lastId === head);
    expect(listener.events).toEqual(talk.events);
    expect(second.view.events).toEqual(talk.events);
    const said = listener.events.find(({ type }) => type === "message.completed");
    expect(said).toMatchObject({ data: { message: { parts: [{ type: "text", text: forged }] } } });
    const previews = (heard: readonly { type: string }[]) => heard.filter(({ type }) => type === "delta").length;
    expect(previews(listener.heard)).toBe(previews(talk.watcher.frames));
    await listener.cut();
    second.cut();
    expect(await provider.stats(talk.scope)).toMatchObject({ inFlight: 0 });
    await agree(talk);
  });
});
