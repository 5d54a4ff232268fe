import { describe, expect, it } from "vitest";
import { objectName } from "../../src/edge/object-name.ts";
import { stubFor, type ActorNamespace } from "../../src/edge/stub-for.ts";

/** Names its stubs after where and what they are. */
const namespace = (place: string): ActorNamespace<string> => ({
  getByName: (name) => `${place}/${name}`,
  jurisdiction: (jurisdiction) => namespace(jurisdiction),
});

describe("an object's name", () => {
  it("is versioned and reveals neither tenant nor conversation", async () => {
    const name = await objectName("acme", "0123456789abcdefghjkmnpqrs");
    expect(name).toMatch(/^c1\.[A-Za-z0-9_-]{43}$/);
    expect(name).toBe(await objectName("acme", "0123456789abcdefghjkmnpqrs"));
  });

  it("never changes: a changed name would lose every stored conversation", async () => {
    expect(await objectName("acme", "0123456789abcdefghjkmnpqrs")).toBe(
      "c1.hp3Uawc4HEcYet5OlEFq4CvaqwZ_9dBXAyc2ZrYMAM0",
    );
  });

  it.each([
    [
      ["a|b", "c"],
      ["a", "b|c"],
    ],
    [
      ["a\0b", "c"],
      ["a", "\0bc"],
    ],
    [
      ["", "ab"],
      ["ab", ""],
    ],
    [
      ["é", "x"],
      ["e\u0301", "x"],
    ],
    [
      ["acme", "x"],
      ["other", "x"],
    ],
  ])("differs for %j and %j", async ([tenantA = "", idA = ""], [tenantB = "", idB = ""]) => {
    expect(await objectName(tenantA, idA)).not.toBe(await objectName(tenantB, idB));
  });
});

describe("stubFor", () => {
  it("finds a conversation's object by tenant and id", async () => {
    const env = { CONVERSATIONS: namespace("anywhere") };
    expect(await stubFor(env, { id: "acme" }, "x")).toBe(`anywhere/${await objectName("acme", "x")}`);
  });

  it("keeps a tenant's objects inside its jurisdiction", async () => {
    const env = { CONVERSATIONS: namespace("anywhere") };
    const stub = await stubFor(env, { id: "acme", jurisdiction: "eu" }, "x");
    expect(stub).toBe(`eu/${await objectName("acme", "x")}`);
  });
});
