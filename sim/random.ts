/**
 * All chance of the simulation. A stream is named by the seed and by what it is for, so that leaving out one command or
 * fault moves no other choice: that is what lets a failing schedule be made smaller.
 */

/** FNV-1a over the parts, finished as in MurmurHash3. */
export function hashOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = `${part}|`;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Mulberry32. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** [0, 1) */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** 0 … n - 1 */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** Whole, both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  pick<const T>(list: readonly [T, ...T[]]): T;
  pick<T>(list: readonly T[]): T | undefined;
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }

  /** A name by its weight; the names' order is the choice's. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[];
    const total = names.reduce((sum, name) => sum + weights[name], 0);
    let left = this.next() * total;
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    const [first] = names;
    if (first === undefined) throw new RangeError("nothing to choose from");
    return first;
  }

  /** Small numbers are as likely as large ones, by magnitude: early crashes and late ones. */
  logBelow(n: number): number {
    return Math.floor(Math.exp(this.next() * Math.log(n)));
  }
}

export const randomOf = (...parts: readonly (string | number)[]): Random => new Random(hashOf(...parts));
