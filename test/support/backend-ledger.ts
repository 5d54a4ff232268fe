/**
 * The ledger of the fake backend: *raw effects*. With de-duplication on, a repeated key books once and the first answer
 * is replayed, as a good backend does. With it off, every request books, so a service that executes twice is caught
 * even though a good backend would have hidden it.
 */
import { canonical, type JsonObject } from "./json.ts";
import type { Reply } from "./rdb-table.ts";

export type Booking = {
  /** Position, from 1. */
  readonly n: number;
  readonly at: string;
  readonly kind: "transfer" | "plan";
  readonly idempotencyKey: string | null;
  readonly caller: string | null;
  /** The transfer as requested, or the plan as stored. */
  readonly body: JsonObject;
};

export type Booker = Pick<Booking, "idempotencyKey" | "caller">;
export type Ledger = ReturnType<typeof createLedger>;

export function createLedger() {
  let bookings: Booking[] = [];
  let replays = 0;
  /** First answers by idempotency key. */
  const answered = new Map<string, { readonly digest: string; readonly reply: Reply }>();

  const book = ({ idempotencyKey, caller }: Booker, kind: Booking["kind"], body: JsonObject): Booking => {
    const at = new Date().toISOString();
    const booking = { n: bookings.length + 1, at, kind, idempotencyKey, caller, body };
    bookings.push(booking);
    return booking;
  };

  return {
    book,

    transfer(by: Booker, body: JsonObject, dedup: boolean): Reply {
      const key = by.idempotencyKey;
      const seen = dedup && key !== null ? answered.get(key) : undefined;
      if (seen !== undefined && seen.digest !== canonical(body)) {
        return reply(422, { code: "idempotency_key_reused", message: "same key, other body" });
      }
      if (seen !== undefined) {
        replays += 1;
        return { ...seen.reply, headers: { "idempotency-replayed": "true" } };
      }
      const first = reply(201, receipt(book(by, "transfer", body)));
      if (key !== null) answered.set(key, { digest: canonical(body), reply: first });
      return first;
    },

    /** What a tool's probe asks: the transfer that was booked under the key. */
    find(key: string): Reply {
      const found = bookings.find((entry) => entry.kind === "transfer" && entry.idempotencyKey === key);
      if (found !== undefined) return reply(200, receipt(found));
      return reply(404, { code: "NOT_BOOKED", message: "no transfer under this key" });
    },

    read() {
      const counts = new Map<string, number>();
      for (const { idempotencyKey: key } of bookings) counts.set(key ?? "", (counts.get(key ?? "") ?? 0) + 1);
      return structuredClone({ rawEffects: bookings.length, replays, byKey: Object.fromEntries(counts), bookings });
    },

    clear(): void {
      bookings = [];
      replays = 0;
      answered.clear();
    },
  };
}

export function reply(status: number, body: unknown): Reply {
  return { status, body, headers: {} };
}

function receipt({ body, n }: Booking): JsonObject {
  return { ...body, transfer_id: `tr_${n}`, status: "booked" };
}
