/** The figures of all seeds together. */
import type { Violation } from "../../sim/observation.ts";
import { percentile } from "../common/figures.ts";
import type { Verdict } from "./check/check.ts";
import type { Played } from "./play.ts";

export class Tally {
  readonly failed: { readonly seed: number; readonly dataDir: string; readonly laws: string[] }[] = [];
  readonly #byLaw = new Map<string, number>();
  #progress = 0;
  #kills = { kills: 0, random: 0, triggered: 0, cascades: 0, windowKills: 0, provedOrUnknown: 0 };
  #sums = { conversations: 0, events: 0, commands: 0, effects: 0, frames: 0 };
  readonly #byKind: Record<string, number> = {};
  readonly #recoveries: number[] = [];
  /** What the service complained of, by name. */
  readonly #complaints: Record<string, number> = {};

  /** A kill of the plan was carried out. */
  progress(): void {
    this.#progress += 1;
    if (this.#progress % 20 === 0) console.log(`${this.#progress} kills`);
  }

  add({ seen, reaper }: Played, { windows }: Verdict): void {
    const kills = this.#kills;
    kills.cascades += reaper.cascades;
    kills.windowKills += windows.killed;
    kills.provedOrUnknown += windows.provedOrUnknown;
    for (const { kind } of seen.kills) {
      kills.kills += 1;
      if (kind === "random") kills.random += 1;
      else if (kind !== "cascade") kills.triggered += 1;
      this.#byKind[kind] = (this.#byKind[kind] ?? 0) + 1;
    }
    this.#recoveries.push(...reaper.recoveries);
    for (const name of complaintsIn(seen.serviceLog)) this.#complaints[name] = (this.#complaints[name] ?? 0) + 1;
    for (const one of seen.conversations) {
      this.#sums.conversations += 1;
      this.#sums.events += one.seen.log.length;
      this.#sums.commands += one.seen.asked.length;
      this.#sums.effects += Object.values(one.effects).reduce((sum, n) => sum + n, 0);
      this.#sums.frames += one.connections.reduce((sum, { frames }) => sum + frames.length, 0);
    }
  }

  fail(seed: number, dataDir: string, violations: readonly Violation[]): void {
    for (const { law } of violations) this.#byLaw.set(law, (this.#byLaw.get(law) ?? 0) + 1);
    this.failed.push({ seed, dataDir, laws: [...new Set(violations.map(({ law }) => law))] });
  }

  /** Everything that was wanted was done, and nothing was wrong with it. */
  holds(wanted: { readonly random: number; readonly triggered: number }): boolean {
    const { random, triggered, windowKills, provedOrUnknown } = this.#kills;
    const done = random === wanted.random && triggered === wanted.triggered;
    return done && this.failed.length === 0 && windowKills === provedOrUnknown;
  }

  /** Violations of these laws. */
  #of(...laws: readonly string[]): number {
    return laws.reduce((sum, law) => sum + (this.#byLaw.get(law) ?? 0), 0);
  }

  figures(seconds: number): Record<string, unknown> {
    return {
      ...this.#kills,
      violations: [...this.#byLaw.values()].reduce((sum, n) => sum + n, 0),
      acknowledgedLost: this.#of("X1", "X2"),
      seenNotDurable: this.#of("X4"),
      duplicateEffects: this.#of("X6"),
      withoutIntentOrYes: this.#of("X7", "X8"),
      gapsOrRepeats: this.#of("X3", "X5"),
      stuck: this.#of("X16", "plays to its end"),
      historyDiffers: this.#of("X18"),
      ...(this.failed.length > 0 ? { failed: this.failed } : {}),
      ...this.#sums,
      byKind: this.#byKind,
      complaints: this.#complaints,
      killsPerSecond: Math.round((this.#kills.kills / seconds) * 10) / 10,
      recoveryP50Ms: percentile(this.#recoveries, 50),
      recoveryP95Ms: percentile(this.#recoveries, 95),
    };
  }
}

/** Warnings and errors in the output of the service, and whatever the runtime itself complains of. */
export function complaintsIn(serviceLog: string): string[] {
  return serviceLog.split("\n").flatMap((line) => {
    if (!/"level":"(?:warn|error)"/.test(line)) return [];
    const own = /\\"event\\":\\"([a-z_]+)\\"/.exec(line)?.[1];
    if (own !== undefined) return [own];
    return [/"message":"([^";]{0,80})/.exec(line)?.[1] ?? line.slice(0, 120)];
  });
}
