/**
 * What is measured, as the load generator sees it: one adapter per product. The vocabulary is that of the comparison
 * harness, so that one adapter serves both.
 */

/** `t`: microseconds on the monotonic clock, at receipt. `run`: the load's own name of it. */
export type Seen =
  /** The first word of the server that says that the run is durably registered. */
  | { readonly k: "ack"; readonly run: string; readonly t: number; readonly native?: string }
  /** `snap`: the text so far, in place of what was there. */
  | { readonly k: "delta"; readonly text: string; readonly n: number; readonly snap?: boolean; readonly t: number }
  /** A tool call waits for a person. */
  | {
      readonly k: "proposal";
      readonly run: string;
      readonly t: number;
      readonly native?: string;
      readonly call?: unknown;
    }
  /** The tool's result. */
  | { readonly k: "tool"; readonly run: string; readonly t: number }
  | { readonly k: "done"; readonly run: string; readonly status: string; readonly t: number }
  | { readonly k: "caughtup"; readonly t: number }
  | { readonly k: "error"; readonly err: string; readonly t: number };

export type Proposal = Extract<Seen, { k: "proposal" }>;

export interface ConnectOptions {
  /** 0: wants what it missed, from the beginning. Absent: joins at the head. */
  readonly cursor?: number | undefined;
  /** The how many-th of a crowd: products that bound the sockets of one user need other users. */
  readonly watcher?: number | undefined;
  readonly onEvent: (seen: Seen) => void;
}

export interface Connection {
  send(text: string, run: string): void;
  confirm(proposal: Proposal, yes: boolean): void;
  cancel(run: string): void;
  close(): Promise<void>;
  bytesIn(): number;
  bytesOut(): number;
  readonly framesIn: number;
}

export interface Surroundings {
  readonly port: number;
  /** The model and the tools' backend. */
  readonly modelUrl: string;
  readonly dataDir: string;
  readonly log?: string;
}

export interface Peer {
  readonly name: string;
  /** Workloads that it cannot be asked. */
  readonly lacks?: readonly string[];
  start(surroundings: Surroundings): Promise<unknown>;
  stop(): Promise<void>;
  /** SIGKILL, and up again on the same data. */
  restart(): Promise<unknown>;
  /** Of the process; CPU time is taken over it and its descendants. */
  pid(): number;
  /** Of a database that it brings along. */
  extraPids?(): readonly number[];
  /** The conversation exists, and has so many turns behind it. */
  seed(conversation: string, turns: number): Promise<void>;
  connect(conversation: string, options: ConnectOptions): Promise<Connection>;
  /** Starts a run over plain HTTP; resolves with the answer's status when it is durable. */
  post?(conversation: string, text: string, run: string): Promise<number>;
}
