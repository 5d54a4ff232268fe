/** One fault: what goes wrong, and what everybody must then see. Data; the house plays it, the judge compares. */
import type { LimitName } from "../../src/protocol/run.ts";
import type { StopCode } from "../../src/protocol/stops.ts";
import type { Answer } from "../../test/support/answer-script.ts";
import type { Fault as BackendFault } from "../../test/support/backend-faults.ts";

export interface Fault {
  readonly name: string;
  /** Answers of the model in turn, and for ever after. */
  readonly answers: readonly Answer[];
  readonly otherwise?: Answer;
  readonly limits?: Partial<Record<LimitName, number>>;
  /** At the tools' backend; hits this fault's requests alone. */
  readonly backend?: Omit<BackendFault, "match">;
  /** A person agrees to what is asked. */
  readonly agrees?: boolean;
  /** The person's sign-in; without: all that the development sign-in gives. */
  readonly scopes?: readonly string[];
  /** Runs played one after another, in conversations of their own; the last one is judged. */
  readonly runs?: number;
  readonly expected: Expected;
}

/** Two numbers: from and to. */
type Within = number | readonly [number, number];

export interface Expected {
  /** How the run ends; `unknown`: it waits for somebody to say what became of a call. */
  readonly ends: StopCode | "unknown";
  readonly retryAfterMs?: Within;
  /** What support sees of the provider, in the run and in the log. */
  readonly provider?: { readonly status?: number; readonly code?: string };
  /** What people read of the model: its text, marked incomplete unless the run completed; absent: nothing. */
  readonly text?: string;
  /** The sentence of ours, by code, that people read in their language. */
  readonly notice?: StopCode;
  readonly limit?: LimitName;
  /** Requests to the provider; never one more. */
  readonly requests: Within;
  /** Results of calls, in order: a code, or `ok`. */
  readonly calls?: readonly string[];
  /** Requests to the backend, and what it booked. */
  readonly backendRequests?: Within;
  readonly bookings?: number;
  /** What the tenant's ledger has booked: nothing, what the provider told, an estimate, or one of these two. */
  readonly booked: "nothing" | "told" | "estimated" | "something";
}

/** Replaced by a name of the fault's own, so that faults play side by side. */
export const OWN = "OWN";
