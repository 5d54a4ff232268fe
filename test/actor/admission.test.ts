/** Before a command is decided: does its sign-in count, and is it within its sender's rate? */
import { describe, expect, test } from "vitest";
import type { StandingPort } from "../../src/actor/tenant-ports.ts";
import { reject } from "../../src/protocol/problems.ts";
import { nodeJournal } from "../storage/node-journal.ts";
import { planned, settle, user, World } from "./world.ts";

const OUT = reject("unauthenticated", "The bearer token is not valid.");

/** alice's, and refused from the moment that the test says so. */
async function world(settings: Partial<{ burst: number; perMinute: number }> = {}) {
  let out = false;
  const asked: string[] = [];
  const standing: StandingPort = {
    refusal: async ({ userId }, { type }) => {
      asked.push(`${userId} ${type}`);
      await settle();
      return out && userId === "alice" ? OUT : null;
    },
  };
  const commandRate = { burst: 1_000, perMinute: 1_000, ...settings };
  const made = new World(nodeJournal(), {
    standing,
    settings: { watchdogMs: 30_000, checkpointMs: 1_000, outboxMs: 30_000, commandRate },
  });
  await made.create();
  return { world: made, asked, lockOut: () => (out = true) };
}

const codeOf = (answer: Awaited<ReturnType<World["send"]>>) =>
  answer.ok ? answer.value.status : answer.rejection.code;
const rename = { type: "update_conversation", body: { title: "a title" } } as const;

describe("a sign-in that counts no more", () => {
  test("changes nothing, keyed or not, and uses no key up", async () => {
    const { world: at, lockOut } = await world();
    lockOut();
    const { seq } = at.actor.state;
    expect(codeOf(await at.send(rename))).toBe("unauthenticated");
    expect(codeOf(await at.start("hello", "key-1"))).toBe("unauthenticated");
    expect(at.actor.state.seq).toBe(seq);
    expect(at.claims.size).toBe(0);
    expect(at.modelCalls).toEqual([]);
  });

  test("is not answered with what it was answered before", async () => {
    const { world: at, lockOut } = await world();
    expect(codeOf(await at.start("hello", "key-1"))).toBe(202);
    lockOut();
    expect(codeOf(await at.start("hello", "key-1"))).toBe("unauthenticated");
  });

  test("learns that, and not whether there is such a conversation", async () => {
    const { world: at, lockOut } = await world();
    lockOut();
    const nowhere = { conversationId: "nowhere", command: rename };
    expect(await at.actor.command(user("alice"), nowhere)).toMatchObject({ rejection: { code: "unauthenticated" } });
    expect(await at.actor.command(user("bob"), nowhere)).toMatchObject({ rejection: { code: "not_found" } });
  });

  test("is asked about once for a command, and not at all by what the actor does by itself", async () => {
    const { world: at, asked } = await world();
    await at.start("hello");
    await at.answer(planned());
    expect(asked).toEqual(["alice create_conversation", "alice start_run"]);
  });
});

describe("a rate", () => {
  test("lets through what the bucket holds, refuses the rest, and says when to come again", async () => {
    const { world: at } = await world({ burst: 3, perMinute: 60 });
    const codes = [];
    for (let n = 0; n < 4; n++) codes.push(codeOf(await at.send(rename)));
    // One went into making the conversation.
    expect(codes).toEqual([200, 200, "rate_limited", "rate_limited"]);
    await at.clock.advance(1_000);
    expect(await at.send(rename)).toMatchObject({ ok: true, value: { rate: { limit: 3, remaining: 0 } } });
  });

  test("does not count the same request again, which does nothing, nor what finds nothing", async () => {
    const { world: at } = await world({ burst: 2, perMinute: 1 });
    expect(codeOf(await at.start("hello", "key-1"))).toBe(202);
    for (let n = 0; n < 20; n++) expect(codeOf(await at.start("hello", "key-1"))).toBe(202);
    expect(codeOf(await at.send(rename, { context: user("mallory") }))).toBe("not_found");
    expect(codeOf(await at.send(rename))).toBe("rate_limited");
    expect(codeOf(await at.start("hello", "key-1"))).toBe(202);
  });
});
