import { describe, expect, it } from "vitest";
import type { BudgetLevels } from "../../src/protocol/budget.ts";
import { UsageReport } from "../../src/protocol/usage.ts";
import { emptyActor, emptyHistory, NOW, problemIn, testEdge } from "./support/edge.ts";

const DAY = 24 * 3_600_000;

function asked(budget: BudgetLevels | null = null) {
  const queries: unknown[] = [];
  const history = {
    ...emptyHistory,
    usage: async (tenantId: string, query: { from: number; to: number; agent?: string }) => {
      queries.push({ tenantId, ...query });
      return emptyHistory.usage(tenantId, query);
    },
  };
  const edge = testEdge(emptyActor, { history, budget: async () => budget });
  return { queries, get: (path: string, options = {}) => edge.call("GET", path, options) };
}

describe("GET /v1/usage", () => {
  it("is of the caller's tenant and of the last day, where no range is given", async () => {
    const { queries, get } = asked();
    const answer = await get("/v1/usage");
    expect(answer.status).toBe(200);
    expect(UsageReport.parse(await answer.json())).not.toHaveProperty("budget");
    expect(queries).toEqual([{ tenantId: expect.any(String), from: NOW - DAY, to: NOW }]);
  });

  it("takes a range and an agent, and says what is left of the budget where there is one", async () => {
    const budget = { tokensPerHour: { used: 5, reserved: 1, bound: 10, resetsAt: "2026-11-30T13:00:00.000Z" } };
    const { queries, get } = asked(budget);
    const answer = await get("/v1/usage?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00%2B00:00&agent=lab");
    expect(await answer.json()).toMatchObject({ budget });
    const [from, to] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)];
    expect(queries).toMatchObject([{ from, to, agent: "lab" }]);
  });

  it.each([
    "from=yesterday",
    "from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z",
    "from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z",
    "agent=",
  ])("refuses %s", async (query) => {
    const { queries, get } = asked();
    expect(await problemIn(await get(`/v1/usage?${query}`))).toMatchObject({ status: 422, code: "invalid_request" });
    expect(queries).toEqual([]);
  });

  it("is 503 where the history or the ledger cannot be read", async () => {
    const broken = () => Promise.reject(new Error("away"));
    for (const ports of [{ history: { ...emptyHistory, usage: broken } }, { history: emptyHistory, budget: broken }]) {
      const answer = await testEdge(emptyActor, ports).call("GET", "/v1/usage");
      expect(await problemIn(answer)).toMatchObject({ status: 503, code: "history_unavailable" });
    }
  });
});
