/**
 * Kills the service and starts it again, until the plan is done: at random, at the instant that a trigger names, and in
 * cascades while it is only just coming back.
 */
import type { Random } from "../../sim/random.ts";
import { nowMs, pause, Signal } from "../common/figures.ts";
import type { Installation, Starting } from "../common/runtime.ts";
import { TRIGGERS, type Kill, type KillKind, type Trigger } from "./seen.ts";

/** After that another trigger is tried: some instants are rare in some seeds. */
const PATIENCE_MS = 4_000;
const ROUNDS = 8;

const WEIGHTS: Readonly<Record<Trigger, number>> = {
  arrival: 6,
  booked: 6,
  chunk: 4,
  ack_start: 2,
  ack_confirm: 3,
  ack_cancel: 2,
};

export class Reaper {
  readonly kills: Kill[] = [];
  cascades = 0;
  /** Ms from a kill to the first event that a watcher got afterwards. */
  readonly recoveries: number[] = [];
  readonly #installation: Installation;
  readonly #random: Random;
  readonly #onKilled: () => void;
  #process: Starting | null = null;
  #up = new Signal();
  #isUp = false;
  #armed: { readonly triggers: readonly Trigger[]; readonly hit: () => void } | null = null;
  #dying: Promise<void> | null = null;
  #killedAt: number | null = null;

  /** @param onKilled while the service is dead */
  constructor(installation: Installation, random: Random, onKilled: () => void) {
    this.#installation = installation;
    this.#random = random;
    this.#onKilled = onKilled;
  }

  /** Resolves while the service is up. */
  up(): Promise<void> {
    return this.#up.promise;
  }

  /** Called where a trigger's instant is: kills if that was wanted, and resolves when the service is dead. */
  hit(trigger: Trigger, key?: string): Promise<void> {
    if (!this.#armed?.triggers.includes(trigger) || !this.#process) return Promise.resolve();
    const { hit } = this.#armed;
    this.#armed = null;
    const dead = this.#kill(trigger, key);
    hit();
    return dead;
  }

  /** A watcher got a durable event. */
  sawEvent(): void {
    if (this.#killedAt === null || !this.#process) return;
    this.recoveries.push(performance.now() - this.#killedAt);
    this.#killedAt = null;
  }

  async start(): Promise<void> {
    const process = this.#installation.start();
    this.#process = process;
    await process.ready;
    this.#serves();
  }

  async carryOut(kinds: readonly ("random" | "triggered")[], progress: () => void): Promise<void> {
    for (const kind of kinds) {
      if (kind === "random") {
        await pause(this.#random.next() * 400);
        await this.#kill("random");
      } else await this.#triggered();
      await this.#restart();
      progress();
    }
  }

  async stop(): Promise<void> {
    this.#isDown();
    await this.#process?.kill();
    this.#process = null;
  }

  async #triggered(): Promise<void> {
    for (let round = 1; round <= ROUNDS; round++) {
      const triggers = round < 3 ? [this.#random.weighted(WEIGHTS)] : TRIGGERS;
      const hit = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => {
          this.#armed = null;
          resolve(false);
        }, PATIENCE_MS);
        this.#armed = {
          triggers,
          hit: () => {
            clearTimeout(timer);
            resolve(true);
          },
        };
      });
      if (hit) return void (await this.#dying);
    }
    throw new Error(`nothing happened for ${(ROUNDS * PATIENCE_MS) / 1_000} s: no trigger was hit`);
  }

  async #restart(): Promise<void> {
    const again = this.#random.chance(0.12) ? this.#random.between(1, 5) : 0;
    if (again > 0) this.cascades += 1;
    for (let n = 0; n < again; n++) {
      const process = this.#installation.start();
      this.#process = process;
      // Mostly once it serves; sometimes while it is still starting.
      if (this.#random.chance(0.8)) {
        await process.ready;
        this.#serves();
      }
      await pause(this.#random.next() * 200);
      await this.#kill("cascade");
    }
    await this.start();
  }

  #serves(): void {
    this.#isUp = true;
    this.#up.resolve();
  }

  /** Whoever waits already goes on waiting, through any number of deaths. */
  #isDown(): void {
    if (this.#isUp) this.#up = new Signal();
    this.#isUp = false;
  }

  #kill(kind: KillKind, key?: string): Promise<void> {
    const process = this.#process;
    if (!process) return Promise.resolve();
    this.#process = null;
    this.#isDown();
    const dead = process.kill().then(() => this.#onKilled());
    this.kills.push({ at: nowMs(), kind, ...(key === undefined ? {} : { key }) });
    this.#killedAt = performance.now();
    this.#dying = dead;
    return dead;
  }
}
