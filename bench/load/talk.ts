/** One client in one conversation: what it was sent, and when. */
import { setTimeout } from "node:timers/promises";
import { nowUs } from "../measure/clock.ts";
import type { Connection, Peer, Proposal, Seen } from "./peer.ts";

const STAMP = /@(\d+);/g;
const PATIENCE_MS = 120_000;

/** Microseconds from the send, but for the counts. */
export interface Turn {
  readonly run: string;
  readonly sentAt: number;
  readonly ackAt: number;
  readonly doneAt: number;
  readonly lastDeltaAt: number;
  /** From the model's write of the first delta to its receipt here. */
  readonly firstLag: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly frames: number;
  readonly chars: number;
  readonly status: string;
}

let names = 0;
/** Unique over the processes of a measurement. */
export const newName = (kind: string): string => `${kind}-${process.pid}-${++names}`;

export class Talk {
  readonly #peer: Peer;
  readonly #conversation: string;
  readonly #waiting = new Set<{ readonly check: (seen: Seen) => void; readonly fail: (error: Error) => void }>();
  #connection: Connection | null = null;
  /** Characters of the text so far, without stamps. */
  chars = 0;
  lastDeltaAt = 0;
  firstLag: number | null = null;
  /** Of every stamped delta, where asked for. */
  readonly lags: number[] = [];
  keepsLags = false;

  constructor(peer: Peer, conversation = newName("c")) {
    this.#peer = peer;
    this.#conversation = conversation;
  }

  async connect(options: { cursor?: number; watcher?: number } = {}): Promise<this> {
    this.#connection = await this.#peer.connect(this.#conversation, { ...options, onEvent: (seen) => this.#on(seen) });
    return this;
  }

  get connection(): Connection {
    if (!this.#connection) throw new Error("not connected");
    return this.#connection;
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  reset(): void {
    this.chars = 0;
    this.lastDeltaAt = 0;
    this.firstLag = null;
    this.lags.length = 0;
  }

  /** The first thing seen from now on that is wanted. Rejects with what the server says went wrong, or after a while. */
  until<K extends Seen["k"]>(
    k: K,
    wanted: (seen: Extract<Seen, { k: K }>) => boolean = () => true,
  ): Promise<Extract<Seen, { k: K }>> {
    let resolve: (seen: Extract<Seen, { k: K }>) => void = () => undefined;
    let reject: (error: Error) => void = () => undefined;
    const promise = new Promise<Extract<Seen, { k: K }>>((...ends) => ([resolve, reject] = ends));
    const isOf = (seen: Seen): seen is Extract<Seen, { k: K }> => seen.k === k;
    const waiter = {
      check: (seen: Seen) => {
        if (isOf(seen) && wanted(seen)) settle(() => resolve(seen));
        else if (seen.k === "error") settle(() => reject(new Error(`${this.#peer.name}: ${seen.err}`)));
      },
      fail: (error: Error) => settle(() => reject(error)),
    };
    const patience = new AbortController();
    const settle = (end: () => void) => {
      this.#waiting.delete(waiter);
      patience.abort();
      end();
    };
    this.#waiting.add(waiter);
    setTimeout(PATIENCE_MS, undefined, { signal: patience.signal, ref: false }).then(
      () => waiter.fail(new Error(`${this.#peer.name}: no ${k} in ${PATIENCE_MS} ms`)),
      () => undefined,
    );
    // Several are waited for at once, and one error ends them all.
    promise.catch(() => undefined);
    return promise;
  }

  /** One whole turn. */
  async turn(script: string): Promise<Turn> {
    this.reset();
    const run = newName("r");
    const { connection } = this;
    const [bytesIn, bytesOut, frames] = [connection.bytesIn(), connection.bytesOut(), connection.framesIn];
    const [acked, ended] = [this.until("ack"), this.until("done")];
    const sentAt = nowUs();
    connection.send(`go [[id=${run} ${script}]]`, run);
    const { t: ackAt } = await acked;
    const { t: doneAt, status } = await ended;
    if (status !== "done") throw new Error(`${this.#peer.name}: run ${run} ended ${status}`);
    return {
      run,
      sentAt,
      ackAt,
      doneAt,
      status,
      lastDeltaAt: this.lastDeltaAt,
      firstLag: this.firstLag ?? Number.NaN,
      bytesIn: connection.bytesIn() - bytesIn,
      bytesOut: connection.bytesOut() - bytesOut,
      frames: connection.framesIn - frames,
      chars: this.chars,
    };
  }

  /** Up to the tool call that waits. */
  async proposal(script: string): Promise<{ readonly run: string; readonly proposal: Proposal }> {
    this.reset();
    const run = newName("r");
    const proposed = this.until("proposal");
    const args = JSON.stringify({ recipient_id: run, amount_cents: 500 });
    this.connection.send(`go [[id=${run} tool=transfer args=${args} ${script}]]`, run);
    return { run, proposal: await proposed };
  }

  #on(seen: Seen): void {
    if (seen.k === "delta") this.#text(seen);
    for (const waiter of this.#waiting) waiter.check(seen);
  }

  #text({ text, snap, t }: Extract<Seen, { k: "delta" }>): void {
    const stamped = text.includes("@");
    if (snap) this.chars = 0;
    this.chars += stamped ? text.replaceAll(STAMP, "").length : text.length;
    this.lastDeltaAt = t;
    if (!stamped) return;
    for (const [, at] of text.matchAll(STAMP)) {
      this.firstLag ??= t - Number(at);
      if (this.keepsLags) this.lags.push(t - Number(at));
    }
  }
}
