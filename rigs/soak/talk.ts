/** A conversation under bounded load: its person says something, answers what is asked, waits for the end, and rests. */
import type { Random } from "../../sim/random.ts";
import { HoldpointClient } from "../../src/client/client.ts";
import { ProblemError } from "../../src/client/http.ts";
import type { Run } from "../../src/protocol/run.ts";
import { pause } from "../common/figures.ts";
import type { Person } from "../common/people.ts";
import { writeScript } from "../crash/script.ts";
import type { Place } from "./watcher.ts";

const STUCK_MS = 60_000;
const OVER: readonly string[] = ["completed", "failed", "cancelled"];

export class Talk {
  readonly place: Place;
  readonly client: HoldpointClient;
  readonly #name: string;
  readonly #random: Random;
  #over = false;
  runs = 0;
  /** By how they ended. */
  readonly ends: Record<string, number> = {};
  readonly stuck: string[] = [];

  static async open(baseUrl: string, owner: Person, name: string, model: string, random: Random): Promise<Talk> {
    const client = new HoldpointClient({ baseUrl, token: () => owner.token });
    const { id, headCursor } = await client.createConversation({ agent: "lab", metadata: { model } });
    const place = { baseUrl, conversationId: id, generation: headCursor.split(".")[0] ?? "" };
    return new Talk(place, client, name, random);
  }

  private constructor(place: Place, client: HoldpointClient, name: string, random: Random) {
    this.place = place;
    this.client = client;
    this.#name = name;
    this.#random = random;
  }

  /** Until it is told to end; then the last run is seen to its end. */
  async live(restMs: number): Promise<void> {
    while (!this.#over) {
      await this.say(writeScript(`#${this.#name}-${this.runs + 1}`, this.#random));
      await pause(this.#random.between(restMs / 2, restMs * 1.5));
    }
  }

  end(): void {
    this.#over = true;
  }

  /** @returns the run at its end; null: it did not come to one */
  async say(text: string): Promise<Run | null> {
    this.runs += 1;
    const { id } = await this.client.startRun(this.place.conversationId, { text });
    for (const until = performance.now() + STUCK_MS; performance.now() < until; await pause(60)) {
      const run = await this.client.run(id);
      if (OVER.includes(run.status)) {
        const end = run.stop?.code ?? run.status;
        this.ends[end] = (this.ends[end] ?? 0) + 1;
        return run;
      }
      if (run.pending.length > 0) await this.#answer(run);
    }
    this.stuck.push(id);
    return null;
  }

  async head(): Promise<number> {
    const { headCursor } = await this.client.conversation(this.place.conversationId);
    return Number(headCursor.split(".")[1]);
  }

  async #answer({ id, pending }: Run): Promise<void> {
    const unknown = pending.filter(({ state }) => state === "unknown");
    const asked = pending.filter(({ state }) => state === "awaiting_confirmation");
    const decision = this.#random.chance(0.8) ? ("approve" as const) : ("reject" as const);
    try {
      await this.client.resume(id, {
        ...(unknown.length > 0
          ? {
              resolutions: unknown.map((call) => ({
                toolCallId: call.id,
                attempt: call.attempt,
                outcome: "give_up" as const,
              })),
            }
          : {}),
        ...(asked.length > 0
          ? { decisions: asked.map((call) => ({ toolCallId: call.id, argsDigest: call.argsDigest, decision })) }
          : {}),
      });
    } catch (error) {
      // What was pending a moment ago need not be any more.
      if (!(error instanceof ProblemError) || error.problem.status >= 500) throw error;
    }
  }
}
