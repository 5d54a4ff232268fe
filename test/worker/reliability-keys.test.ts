/** Case S44: a key belongs to one request of its tenant. Anything else under it is refused, and nothing else happens. */
import { evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { commandText } from "../../src/actor/command-digest.ts";
import { sha256 } from "../../src/effects/digests.ts";
import { objectName } from "../../src/edge/object-name.ts";
import type { Run } from "../../src/protocol/run.ts";
import { registryName } from "../../src/tenant/registry-name.ts";
import { agree } from "./harness/agreement.ts";
import { codeIn, newKey, send, starting, startPath, unmarked, type Given } from "./harness/keyed.ts";
import { crashAndComeBack, eventCount } from "./harness/life.ts";
import { signIn, TENANT } from "./harness/people.ts";
import { colleague, signInTo } from "./harness/strangers.ts";
import { Talk } from "./harness/talk.ts";

/** Of an actor that has died: less than that of any actor here. */
const EARLIER_LIFE = "2020-01-01T00:00:00.000Z life0001";
const REUSED = "idempotency_key_reused";
const runIn = ({ text }: Given): Run => JSON.parse(text) as Run;

describe("a key that belongs to another request is 422, and nothing else", () => {
  test.concurrent("while the first runs, when it has ended, and after a crash", async () => {
    const talk = await Talk.open();
    const elsewhere = await Talk.open({ person: talk.person });
    const editor = await colleague(talk, "editor");
    const theirs = await Talk.open({ person: editor });
    const key = newKey();
    const run = runIn(await starting(talk, key));
    const path = startPath(talk);
    const body = { input: { text: "go on" } };
    const others = async () => [
      await send(talk.person, path, key, { input: { text: "another text" } }),
      await send(talk.person, path, key, { ...body, whenBusy: "enqueue" }),
      await send(talk.person, startPath(elsewhere), key, body),
      // The same words, said by somebody else.
      await send(editor, path, key, body),
      await send(editor, startPath(theirs), key, body),
      await send(talk.person, `/v1/runs/${run.id}/cancel`, key, {}),
      await send(talk.person, `/v1/runs/${run.id}/retry`, key, {}),
      await send(talk.person, `/v1/runs/${run.id}/resume`, key, {
        continuations: [{ limit: "maxSteps", decision: "stop" }],
      }),
      await send(talk.person, "/v1/conversations", key, { agent: "lab" }),
      await send(editor, "/v1/conversations", key, { agent: "lab" }),
    ];
    const overSocket = async () => [
      await talk.watcher.command({ type: "start_run", idempotencyKey: key, input: { text: "another text" } }),
      await talk.watcher.command({ type: "cancel_run", idempotencyKey: key, runId: run.id }),
    ];
    const allRefused = async () => {
      expect((await others()).map(codeIn)).toEqual(Array.from({ length: 10 }, () => REUSED));
      for (const frame of await overSocket()) expect(frame).toMatchObject({ problem: { code: REUSED, status: 422 } });
    };
    const refusedOnes = await others();
    for (const { text } of refusedOnes) expect(text).not.toContain(run.id);
    await allRefused();
    await talk.ended(run);
    const events = await eventCount(talk);
    await allRefused();
    await crashAndComeBack(talk);
    await allRefused();
    expect(await eventCount(talk)).toBe(events);
    expect(await eventCount(elsewhere)).toBe(1);
    expect(await eventCount(theirs)).toBe(1);
    expect(await elsewhere.requests()).toEqual([]);
    expect(await talk.requests()).toHaveLength(1);
    expect(unmarked(await starting(talk, key))).toMatchObject({ status: 202, location: `/v1/runs/${run.id}` });
    await agree(talk);
  });

  test.concurrent("of two different requests at once under one key, one counts", async () => {
    const talk = await Talk.open();
    const elsewhere = await Talk.open({ person: talk.person });
    const key = newKey();
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, (_, i) => starting(talk, key, `text ${i}`)),
      ...Array.from({ length: 5 }, (_, i) => starting(elsewhere, key, `text ${i}`)),
    ]);
    const codes = answers.map(codeIn);
    expect(codes.filter((code) => code !== REUSED)).toEqual(["done"]);
    const winner = codes.indexOf("done") < 5 ? talk : elsewhere;
    const queued = await winner.watcher.until("the run", () => winner.of("run.queued")[0]);
    await winner.watcher.until("its end", () => winner.watcher.event("run.completed", queued.runId));
    expect(talk.of("run.queued").length + elsewhere.of("run.queued").length).toBe(1);
    await agree(winner);
  });

  test.concurrent("another tenant has keys of its own", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const created = newKey();
    const run = runIn(await starting(talk, key));
    const mine = await send(talk.person, "/v1/conversations", created, { agent: "lab" });
    const stranger = await signInTo(`tenant-${newKey()}`, talk.person.userId);
    const headers = { "idempotency-key": created };
    const theirs = await stranger.ask("POST", "/v1/conversations", { body: { agent: "lab" }, headers });
    expect(theirs).toMatchObject({ status: 201 });
    expect(theirs.headers.get("idempotency-replayed")).toBeNull();
    const id = String(theirs.body["id"]);
    expect(id).not.toBe((JSON.parse(mine.text) as { id: string }).id);
    const started = await stranger.ask("POST", `/v1/conversations/${id}/runs`, {
      body: { input: { text: "go on" } },
      headers: { "idempotency-key": key },
    });
    expect(started).toMatchObject({ status: 202, body: { conversationId: id } });
    await talk.ended(run);
    await agree(talk);
  });
});

describe("making conversations", () => {
  test.concurrent("equal requests at once make one; another's, or another body's, none", async () => {
    const person = await signIn();
    const other = await signIn();
    const key = newKey();
    const body = { agent: "lab", title: "One" };
    const create = (who = person, what: object = body) => send(who, "/v1/conversations", key, what);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    const [first] = answers.map(unmarked);
    expect(first?.status).toBe(201);
    for (const answer of answers) expect(unmarked(answer)).toEqual(first);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(codeIn(await create(person, { ...body, title: "Two" }))).toBe(REUSED);
    expect(codeIn(await create(other))).toBe(REUSED);
    expect((await create(other)).text).not.toContain(person.userId);
    const { id } = JSON.parse(first?.text ?? "{}") as { id: string };
    expect((await other.ask("GET", `/v1/conversations/${id}`)).status).toBe(404);
    expect(await person.client.conversation(id)).toMatchObject({ title: "One" });
    // Its key starts no run, here or elsewhere.
    expect(codeIn(await send(person, startPath({ id }), key, { input: { text: "hi" } }))).toBe(REUSED);
  });

  test("with the key of a run makes nothing, not even tables or an alarm", async () => {
    const talk = await Talk.open();
    const key = newKey();
    await talk.ended(runIn(await starting(talk, key)));
    const before = new Set((await listDurableObjectIds(env.CONVERSATIONS)).map(String));
    expect(codeIn(await send(talk.person, "/v1/conversations", key, { agent: "lab" }))).toBe(REUSED);
    const touched = (await listDurableObjectIds(env.CONVERSATIONS)).filter((id) => !before.has(String(id)));
    for (const id of touched) {
      const left = await runInDurableObject(env.CONVERSATIONS.get(id), async (_object, { storage }) => ({
        tables: storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
        alarm: await storage.getAlarm(),
      }));
      expect(left).toEqual({ tables: [], alarm: null });
    }
    await agree(talk);
  });

  test.concurrent("two without a key are two", async () => {
    const person = await signIn();
    const ids = await Promise.all(
      [1, 2].map(async () => (await person.ask("POST", "/v1/conversations", { body: { agent: "lab" } })).body["id"]),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe("a refusal uses no key up", () => {
  test.concurrent("whatever it was refused for, the key then serves another request", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
    const viewer = await colleague(talk, "viewer");
    const theirs = await Talk.open();
    const path = startPath(talk);
    const { run, calls } = await talk.ask();
    const [call] = calls;
    const decision = (argsDigest: string) => ({
      decisions: [{ toolCallId: call?.id, argsDigest, decision: "reject" }],
    });
    const input = { input: { text: "hi" } };
    const refusals: [who: typeof viewer, path: string, body: unknown, code: string][] = [
      [talk.person, path, { input: {} }, "invalid_request"],
      [talk.person, path, { ...input, whenBusy: "reject" }, "run_active"],
      [viewer, path, input, "forbidden"],
      [viewer, startPath(theirs), input, "not_found"],
      [talk.person, `/v1/runs/${run.id}/resume`, decision("A".repeat(43)), "digest_mismatch"],
      [talk.person, `/v1/runs/${run.id}/retry`, {}, "run_active"],
      [talk.person, "/v1/conversations", { agent: "nobody" }, "invalid_request"],
    ];
    const key = newKey();
    for (const [who, where, body, code] of refusals) expect(codeIn(await send(who, where, key, body))).toBe(code);
    const decided = await send(talk.person, `/v1/runs/${run.id}/resume`, key, decision(call?.argsDigest ?? ""));
    expect(decided).toMatchObject({ status: 202, replayed: false });
    expect(codeIn(await send(talk.person, path, key, input))).toBe(REUSED);
    await talk.ended(run);
    await agree(talk);
  });

  test.concurrent("equal requests that are refused together leave the key free", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
    const { run, calls } = await talk.ask();
    const key = newKey();
    const refused = await Promise.all(
      Array.from({ length: 20 }, () => starting(talk, key, "now", { whenBusy: "reject" })),
    );
    expect(new Set(refused.map(codeIn))).toEqual(new Set(["run_active"]));
    const next = await starting(talk, key, "then in turn");
    expect(next).toMatchObject({ status: 202, replayed: false });
    await talk.decide(run, calls[0], "reject");
    await talk.ended(runIn(next));
    await agree(talk);
  });
});

describe("the register", () => {
  test.concurrent("a claim that a crash left behind serves the request that made it, and no other", async () => {
    const talk = await Talk.open();
    const key = newKey();
    const command = { type: "start_run", body: { input: { text: "go on" } } } as const;
    const digest = await sha256(commandText(talk.id, command, talk.person.userId));
    const register = env.REGISTRY.getByName(await registryName(TENANT, key));
    expect(await register.claim({ key, digest, conversationId: talk.id, life: EARLIER_LIFE })).toBe(true);
    expect(codeIn(await starting(talk, key, "something else"))).toBe(REUSED);
    const started = await starting(talk, key);
    expect(started).toMatchObject({ status: 202, replayed: false });
    await talk.ended(runIn(started));
    await agree(talk);
  });

  test.concurrent("a claim that a crash left behind is gone with the refusal of its request", async () => {
    const talk = await Talk.open({ answers: [{ fixture: "common_propose_transfer" }] });
    const { run, calls } = await talk.ask();
    const key = newKey();
    const body = { input: { text: "now" }, whenBusy: "reject" } as const;
    const digest = await sha256(commandText(talk.id, { type: "start_run", body }, talk.person.userId));
    const register = env.REGISTRY.getByName(await registryName(TENANT, key));
    await register.claim({ key, digest, conversationId: talk.id, life: EARLIER_LIFE });
    expect(codeIn(await send(talk.person, startPath(talk), key, body))).toBe("run_active");
    const next = await starting(talk, key, "then in turn");
    expect(next).toMatchObject({ status: 202, replayed: false });
    await talk.decide(run, calls[0], "reject");
    await talk.ended(runIn(next));
    await agree(talk);
  });

  test.concurrent("sweeping is not put off by a life that has just begun", async () => {
    const stub = env.REGISTRY.getByName(await registryName(`tenant-${newKey()}`, "k"));
    const claim = (key: string) => stub.claim({ key, digest: "d", conversationId: "c", life: EARLIER_LIFE });
    const standing = () => runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());
    await claim("one");
    const first = await standing();
    await evictDurableObject(stub);
    await claim("two");
    expect(first).not.toBeNull();
    expect(await standing()).toBe(first);
  });

  test.concurrent("an object's name tells neither tenant nor conversation", async () => {
    expect(await objectName("acme", "c")).not.toContain("acme");
    expect(await registryName("acme", "key-1")).not.toMatch(/acme|key-1/);
  });
});
