/**
 * The business routes of the fake backend. Each checks the request and returns either a refusal or a `commit` to be run
 * once, at the time that the fault plan says; the answer is what `commit` returns.
 *
 * Authority is naive on purpose: `/lookup_order` believes a `user_id` or `userId` in the body (see `owner` in the
 * answer), and nothing but the gateway checks a credential. A service must not depend on the backend to catch such a
 * mistake.
 */
import type { IncomingHttpHeaders } from "node:http";
import { reply, type Booker, type Ledger } from "./backend-ledger.ts";
import { atLeastZero, type JsonObject } from "./json.ts";
import type { Reply, Table } from "./rdb-table.ts";

const PLANS = "/v1/rdb/rest/plans";

export const FORBIDDEN = reply(403, { code: "GATEWAY_FORBIDDEN", message: "this key may not do that" });
export const UNAUTHORIZED = reply(401, { code: "GATEWAY_UNAUTHORIZED", message: "missing or wrong gateway key" });

export type BackendRequest = {
  readonly by: Booker;
  readonly url: URL;
  /** As sent, and as an object (`{}` where it is none). */
  readonly rawBody: unknown;
  readonly body: JsonObject;
  readonly headers: IncomingHttpHeaders;
  /** Whether the gateway's key was sent. */
  readonly authorized: boolean;
};

type Prepared = { readonly refused: Reply } | { readonly commit: () => Reply; readonly waitMs?: number };
export type BusinessRoute = (request: BackendRequest) => Prepared;

/** By method and path. `dedups` is asked at each commit, since a test may switch it. */
export function businessRoutes(ledger: Ledger, plans: Table, dedups: () => boolean): Map<string, BusinessRoute> {
  const gated =
    (route: BusinessRoute): BusinessRoute =>
    (request) =>
      request.authorized ? route(request) : { refused: UNAUTHORIZED };

  return new Map<string, BusinessRoute>([
    [
      "POST /transfer",
      ({ body, by }) => {
        const { recipient_id: recipient, amount_cents: amount } = body;
        if (!isText(recipient)) return invalid("recipient_id must be a non-empty string");
        if (typeof amount !== "number" || !Number.isSafeInteger(amount) || amount <= 0) {
          return invalid("amount_cents must be a positive whole number");
        }
        return { commit: () => ledger.transfer(by, body, dedups()) };
      },
    ],
    [
      "GET /transfer",
      ({ url }) => {
        const key = url.searchParams.get("key");
        return key ? { commit: () => ledger.find(key) } : invalid("key must be given");
      },
    ],
    [
      "POST /lookup_order",
      ({ body, by }) => {
        if (!isText(body.order_id)) return invalid("order_id must be a non-empty string");
        const owner = body.user_id ?? body.userId ?? by.caller;
        const status = bigText(body.order_id) ?? "shipped";
        return { commit: () => reply(200, { order_id: body.order_id, status, total_cents: 4200, owner }) };
      },
    ],
    [
      "POST /slow",
      ({ body }) => {
        if (!atLeastZero(body.ms)) return invalid("ms must be a number of at least 0");
        return { waitMs: Number(body.ms), commit: () => reply(200, { waited_ms: body.ms }) };
      },
    ],
    [
      "POST /always_fail",
      () => ({ refused: reply(500, { code: "ALWAYS_FAILS", message: "this route always fails" }) }),
    ],
    [`GET ${PLANS}`, gated(({ url }) => ({ commit: () => plans.select(url.searchParams) }))],
    [
      `POST ${PLANS}`,
      gated(({ rawBody, headers, by }) => {
        const commit = (): Reply => {
          const prepared = plans.prepare(rawBody);
          if ("refused" in prepared) return prepared.refused;
          plans.insert(prepared.rows);
          for (const row of prepared.rows) ledger.book(by, "plan", row);
          const wantsRows = /\breturn=representation\b/.test(String(headers.prefer ?? ""));
          return reply(201, wantsRows ? prepared.rows : undefined);
        };
        return { commit };
      }),
    ],
  ]);
}

/** `big:N`: an order whose status has N bytes, of characters that are easily cut in half. */
function bigText(orderId: string): string | undefined {
  const bytes = /^big:(\d{1,7})$/.exec(orderId)?.[1];
  return bytes === undefined ? undefined : "😀".repeat(Number(bytes) / 4);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function invalid(message: string): { refused: Reply } {
  return { refused: reply(422, { code: "INVALID_REQUEST", message }) };
}
