/** What the lab can look up. Members of the arguments that name a user are dropped: the caller is the sign-in's. */
import * as z from "zod";
import { AmbiguousOutcome, ok, refused } from "../../tools/outcome.ts";
import { defineTool, type Execution } from "../../tools/define-tool.ts";
import { ask, outcomeOf, type LabDeps } from "./lab-backend.ts";

/** Without key: reads are not sent under one. */
const plain = ({ ctx, deps, signal }: Execution<LabDeps>) => ({ ctx, deps, signal });

const Order = z.object({ order_id: z.string(), status: z.string(), total_cents: z.int(), owner: z.string().nullish() });

export const lookupOrder = defineTool({
  name: "lookup_order",
  title: { en: "Look up an order", zh: "查询订单" },
  description: "Looks up one order of the user.",
  effect: "read",
  input: z.object({ order_id: z.string().min(1).max(200) }),
  output: Order,
  execute: async ({ order_id }, call: Execution<LabDeps>) =>
    outcomeOf(Order, await ask("POST", "/lookup_order", plain(call), { order_id })),
  display: ({ order_id, status }, lang) =>
    lang === "zh" ? `订单 ${order_id}：${status}。` : `Order ${order_id}: ${status}.`,
});

const Waited = z.object({ waited_ms: z.number() });

export const slowLookup = defineTool({
  name: "slow_lookup",
  title: { en: "Look up slowly", zh: "慢速查询" },
  description: "Answers after the given time.",
  effect: "read",
  input: z.object({ ms: z.int().min(0).max(3_600_000) }),
  output: Waited,
  execute: async ({ ms }, call: Execution<LabDeps>) =>
    outcomeOf(Waited, await ask("POST", "/slow", plain(call), { ms })),
});

export const ping = defineTool({
  name: "ping",
  title: { en: "Ping", zh: "探测" },
  description: "Answers at once.",
  effect: "read",
  input: z.object({}),
  output: z.object({ pong: z.literal(true) }),
  execute: () => Promise.resolve(ok({ pong: true as const })),
});

export const alwaysFail = defineTool({
  name: "always_fail",
  title: { en: "Always fail", zh: "总是失败" },
  description: "Fails, always.",
  effect: "read",
  input: z.object({ q: z.string().max(1_000) }),
  output: z.unknown(),
  execute: async ({ q }, call: Execution<LabDeps>) => {
    try {
      return outcomeOf(z.never(), await ask("POST", "/always_fail", plain(call), { q }));
    } catch (error) {
      // Its 500 is its answer. To try it again, as another read's, would only make the loop slower that it is there for.
      if (!(error instanceof AmbiguousOutcome) || error.failure.http?.status !== 500) throw error;
      return refused(error.failure.code, error.failure.message, error.failure);
    }
  },
});
