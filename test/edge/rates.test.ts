import { describe, expect, it } from "vitest";
import { edgeRates } from "../../src/edge/edge-rates.ts";
import { rateHeaders } from "../../src/edge/rate-headers.ts";
import { CONVERSATION, emptyActor, problemIn, testEdge } from "./support/edge.ts";

const counting = (success: (key: string) => boolean) => {
  const keys: string[] = [];
  return {
    keys,
    limit: async ({ key }: { readonly key: string }) => {
      keys.push(key);
      return { success: success(key) };
    },
  };
};

describe("the platform's limits", () => {
  it("are asked per user and per tenant, and no two people share one", async () => {
    const [user, tenant] = [counting(() => true), counting(() => true)];
    const rates = edgeRates({ RATE_USER: user, RATE_TENANT: tenant });
    for (const [tenantId, userId] of [
      ["acme", "ann"],
      ["acmea", "nn"],
      ["acme", "bob"],
    ] as const) {
      expect(await rates(tenantId, userId)).toBeNull();
    }
    expect(new Set(user.keys).size).toBe(3);
    expect(tenant.keys).toEqual(["acme", "acmea", "acme"]);
  });

  it.each([
    ["user", { RATE_USER: counting(() => false), RATE_TENANT: counting(() => true) }],
    ["tenant", { RATE_USER: counting(() => true), RATE_TENANT: counting(() => false) }],
  ])("say that it is the %s's, and when to come again", async (policy, bindings) => {
    const test = testEdge(undefined, { admit: ({ tenantId, userId }) => edgeRates(bindings)(tenantId, userId) });
    const answer = await test.call("GET", "/v1/me");
    expect(answer.headers.get("retry-after")).toBe("60");
    expect(answer.headers.get("ratelimit")).toBe(`"${policy}";r=0;t=60`);
    expect(answer.headers.get("ratelimit-policy")).toBe(`"${policy}";w=60`);
    const problem = await problemIn(answer);
    expect(problem).toMatchObject({ status: 429, code: "rate_limited", retryAfterMs: 60_000 });
    expect(problem).not.toHaveProperty("rate");
  });

  it("keep nobody out where a deployment has none", async () => {
    expect(await edgeRates({})("acme", "ann")).toBeNull();
  });
});

describe("what is left of a person's commands", () => {
  const rate = { policy: "commands", limit: 300, windowS: 15, remaining: 7, resetS: 14 };

  it("is told with every answer, and with the refusal", async () => {
    expect(rateHeaders(rate)).toEqual({
      "ratelimit-policy": '"commands";q=300;w=15',
      ratelimit: '"commands";r=7;t=14',
    });
    const answered = testEdge({
      ...emptyActor,
      command: async () => ({ ok: true, value: { status: 202, body: null, replayed: false, rate } }),
    });
    const path = `/v1/conversations/${CONVERSATION}`;
    const well = await answered.call("PATCH", path, { json: { archived: true } });
    expect(well.headers.get("ratelimit")).toBe('"commands";r=7;t=14');
    const refusal = { code: "rate_limited", detail: "Slow down.", retryAfterMs: 1_200, rate } as const;
    const refused = testEdge({ ...emptyActor, command: async () => ({ ok: false, rejection: refusal }) });
    const ill = await refused.call("PATCH", path, { json: { archived: true } });
    expect([ill.status, ill.headers.get("retry-after"), ill.headers.get("ratelimit-policy")]).toEqual([
      429,
      "2",
      '"commands";q=300;w=15',
    ]);
  });
});
