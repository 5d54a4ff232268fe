/** The fake provider and the fake backend as a Worker test reaches them: over HTTP, as the service does. */
import { inject } from "vitest";
import type { Booking } from "../../support/backend-ledger.ts";
import type { Fault } from "../../support/backend-faults.ts";
import type { BackendRecord } from "../../support/fake-backend.ts";
import type { ScriptUpdate } from "../../support/fake-provider.ts";
import type { RequestRecord } from "../../support/request-book.ts";

/** A body that the service sent, as the strict provider has accepted it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content?: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const PROVIDER = inject("modelProvider");
const BACKEND = inject("labBackend");

async function read<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as T;
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
}

export const provider = {
  script: (update: ScriptUpdate) => post(`${PROVIDER}/__script`, update),
  /** Whole: head, body, and which side closed when. */
  requests: (scope: string) => read<RequestRecord[]>(`${PROVIDER}/__requests?scope=${encodeURIComponent(scope)}`),
  stats: (scope: string) =>
    read<{ inFlight: number; total: number; violations: unknown[] }>(
      `${PROVIDER}/__stats?scope=${encodeURIComponent(scope)}`,
    ),
};

export const chatIn = (record: RequestRecord): ChatRequest => record.body as ChatRequest;

export const backend = {
  fault: (fault: Fault) => post(`${BACKEND}/__fault`, fault),
  /** What this user's tools booked. Raw: the backend books every request. */
  bookings: async (caller: string) => {
    const { bookings } = await read<{ bookings: Booking[] }>(`${BACKEND}/__ledger`);
    return bookings.filter((booking) => booking.caller === caller);
  },
  requests: async (caller: string) => {
    const records = await read<BackendRecord[]>(`${BACKEND}/__requests`);
    return records.filter((record) => record.caller === caller);
  },
};
