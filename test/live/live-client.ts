/**
 * A person who talks to the service over a real model, and spares it: a pause before each POST and between turns, and
 * after a failure that may pass at most two more tries, each later than the one before and under a key of its own.
 *
 * Such patience belongs to people and their clients. In `src` nothing waits before it asks a model again
 * (`test/architecture/model-requests.test.ts`).
 */
import type { Run } from "../../src/protocol/run.ts";

export const BEFORE_POST_MS = 500;
export const BETWEEN_TURNS_MS = 1_000;
export const MORE_TRIES = 2;
export const BACKOFF_MS = 2_000;
/** Longer than this nobody waits for a provider: the failure is the result. */
export const LONGEST_WAIT_MS = 60_000;
const POLL_MS = 500;
const PATIENCE_MS = 5 * 60_000;

export interface LivePorts {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  readonly sleep: (ms: number) => Promise<void>;
  readonly key: () => string;
  readonly now: () => number;
}

export class LiveClient {
  readonly #ports: LivePorts;
  #turns = 0;

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    await this.#ports.sleep(BEFORE_POST_MS);
    return this.#send<T>("POST", path, body);
  }

  get<T>(path: string): Promise<T> {
    return this.#send<T>("GET", path);
  }

  /** Says something and waits until the run has ended, or asks. */
  async turn(conversationId: string, text: string): Promise<Run> {
    if (this.#turns++ > 0) await this.#ports.sleep(BETWEEN_TURNS_MS);
    const started = await this.post<Run>(`/v1/conversations/${conversationId}/runs`, { input: { text } });
    return this.#patiently(await this.#rest(started));
  }

  /** Agrees to all that a run asks. */
  async agree(run: Run): Promise<Run> {
    const decisions = run.pending.map(({ id: toolCallId, argsDigest }) => ({
      toolCallId,
      argsDigest,
      decision: "approve",
    }));
    return this.#patiently(await this.#rest(await this.post<Run>(`/v1/runs/${run.id}/resume`, { decisions })));
  }

  async #patiently(first: Run): Promise<Run> {
    let run = first;
    for (let more = 0; more < MORE_TRIES && run.status === "failed" && run.stop?.retryable; more++) {
      const wait = Math.max(BACKOFF_MS * 2 ** more, run.stop.retryAfterMs ?? 0);
      if (wait > LONGEST_WAIT_MS) return run;
      await this.#ports.sleep(wait);
      run = await this.#rest(await this.post<Run>(`/v1/runs/${run.id}/retry`, {}));
    }
    return run;
  }

  async #rest({ id }: Run): Promise<Run> {
    const { now, sleep } = this.#ports;
    for (const until = now() + PATIENCE_MS; now() < until; await sleep(POLL_MS)) {
      const run = await this.get<Run>(`/v1/runs/${id}`);
      if (["completed", "failed", "cancelled", "interrupted"].includes(run.status)) return run;
    }
    throw new Error(`${id} does not end`);
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { baseUrl, token, fetch, key } = this.#ports;
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": key() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}
