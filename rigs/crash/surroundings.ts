/**
 * What the service talks to, in the rig's own process, so that it outlives every kill: the model's provider and the
 * tools' backend. Both write down what came, misbehave at times, and tell the reaper when its instant has come.
 */
import { randomOf, type Random } from "../../sim/random.ts";
import { startFakeBackend, type Arrival, type FakeBackend } from "../../test/support/fake-backend.ts";
import { startFakeProvider, type FakeProvider, type Written } from "../../test/support/fake-provider.ts";
import type { Answer } from "../../test/support/answer-script.ts";
import { nowMs, pause } from "../common/figures.ts";
import { answerOf, readRequest } from "./script.ts";
import type { BackendRequest, ModelRequest, Trigger } from "./seen.ts";

/** Given to the service; must be seen nowhere else. */
export const PROVIDER_KEY = "the-canary-among-the-provider-keys"; // not-a-secret

export interface Current {
  readonly seed: number;
  readonly hit: (trigger: Trigger, key?: string) => Promise<void>;
  /** What was asked of the provider, by model name. */
  readonly models: Map<string, ModelRequest[]>;
}

export class Surroundings {
  provider!: FakeProvider;
  backend!: FakeBackend;
  /** No faults from now on. */
  calm = false;
  /** Whether the backend books a key once. */
  dedup = true;
  #current: Current | null = null;
  #random: Random = randomOf("surroundings");

  static async start(): Promise<Surroundings> {
    const one = new Surroundings();
    one.provider = await startFakeProvider({
      respond: (scope, body) => one.#answer(scope, body),
      onWrite: (written) => one.#wrote(written),
    });
    one.backend = await startFakeBackend({
      onArrival: (arrival) => one.#arrived(arrival),
      beforeAnswer: (arrival) => one.#booked(arrival),
    });
    return one;
  }

  begin(current: Current, dedup: boolean): void {
    this.#current = current;
    this.#random = randomOf(current.seed, "surroundings");
    this.calm = false;
    this.backend.reset();
    this.provider.reset();
    this.dedup = dedup;
    this.backend.config({ dedup });
  }

  async close(): Promise<void> {
    await Promise.all([this.provider.close(), this.backend.close()]);
  }

  requests(): BackendRequest[] {
    return this.backend
      .requests("/transfer")
      .map(({ atMs, method, query, idempotencyKey, caller, body, endedBy, status }) => ({
        at: atMs,
        mode: method === "GET" ? "probe" : "execute",
        key: (method === "GET" ? new URLSearchParams(query).get("key") : idempotencyKey) ?? "",
        caller,
        body,
        answered: endedBy === "server" ? status : null,
      }));
  }

  #answer(scope: string, body: Record<string, unknown>): Answer | undefined {
    const asked = readRequest(body);
    if (!asked || !this.#current) return undefined;
    const { script, step } = asked;
    const known = this.#current.models.get(scope) ?? [];
    this.#current.models.set(scope, known);
    known.push({ at: nowMs(), message: script.name, step });
    const random = this.#random;
    const honest = answerOf(script, step, random.pick([0, 0, 1, 4]));
    if (this.calm) return honest;
    switch (random.weighted({ honest: 40, failed: 1, limited: 1, cut: 2, silent: 1 })) {
      case "failed":
        return { status: 500 };
      case "limited":
        return { status: 429, headers: { "retry-after": "1" } };
      case "cut":
        return { ...honest, destroyAfterWrites: random.between(1, 4) };
      case "silent":
        return { hang: "headers", ms: 300 };
      default:
        return honest;
    }
  }

  #wrote({ kind, n, of }: Written): void {
    // The head, then three writes for a call; after them the end's own.
    if (kind === "toolCalls" && n >= 2 && n < of - 1) void this.#current?.hit("chunk");
  }

  async #arrived({ route, method, idempotencyKey }: Arrival): Promise<void> {
    const random = this.#random;
    if (!this.calm && random.chance(0.3)) await pause(random.next() * 25);
    if (route !== "/transfer" || method !== "POST") return;
    await this.#current?.hit("arrival", idempotencyKey ?? "");
    if (this.calm || !random.chance(0.06)) return;
    // The next request that looks at the faults is this one.
    const mode = random.pick(["commit_then_drop", "403", "500", "wrong_shape"] as const);
    this.backend.fault({ route: "POST /transfer", mode, times: 1 });
  }

  async #booked({ route, method, idempotencyKey }: Arrival): Promise<void> {
    if (route !== "/transfer" || method !== "POST") return;
    await this.#current?.hit("booked", idempotencyKey ?? "");
    if (!this.calm && this.#random.chance(0.3)) await pause(this.#random.next() * 25);
  }
}
