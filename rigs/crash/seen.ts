/**
 * What was seen from outside while the service was killed again and again. The checker reads this and nothing else. It
 * is plain JSON, so that a failing seed can be kept and judged again.
 */
import type { Observation } from "../../sim/observation.ts";

/** Where the service dies. */
export const TRIGGERS = ["arrival", "booked", "chunk", "ack_start", "ack_confirm", "ack_cancel"] as const;
export type Trigger = (typeof TRIGGERS)[number];
export type KillKind = "random" | "cascade" | Trigger;

/** **K** */
export interface Kill {
  readonly at: number;
  readonly kind: KillKind;
  /** The outside key of the call that was in the window. */
  readonly key?: string;
}

/** **R**: a request as it came to the backend. */
export interface BackendRequest {
  readonly at: number;
  readonly mode: "execute" | "probe";
  readonly key: string;
  readonly caller: string | null;
  readonly body: unknown;
  /** Its whole answer left while the sender was there: its status. */
  readonly answered: number | null;
}

/** **L**: a request as it came to the provider. */
export interface ModelRequest {
  readonly at: number;
  /** Name of the message that it is about. */
  readonly message: string;
  readonly step: number;
}

/** **W**: one connection of a watcher. */
export interface Connection {
  readonly user: string;
  /** `seq` of the cursor that it brought; null: none. */
  readonly after: number | null;
  readonly frames: string[];
}

/** The published client's own account. */
export interface Followed {
  readonly user: string;
  readonly events: readonly string[];
  readonly gaps: number;
  readonly repeats: number;
}

export interface ConversationSeen {
  /** Commands, snapshots, log and rows; the rest of it is the simulation's. */
  readonly seen: Observation;
  readonly tenantId: string;
  /** What every text of this conversation begins with, and no other's. */
  readonly mark: string;
  readonly generation: string;
  readonly owner: string;
  readonly approver: string;
  readonly viewer: string;
  readonly connections: readonly Connection[];
  readonly followed: readonly Followed[];
  readonly requests: readonly BackendRequest[];
  /** By outside key: how often it was really booked. */
  readonly effects: Readonly<Record<string, number>>;
  /** Whether the backend books a key once. */
  readonly dedup: boolean;
  readonly models: readonly ModelRequest[];
  /** What did not come to rest in time. */
  readonly stuck: readonly string[];
}

export interface SeedSeen {
  readonly seed: number;
  readonly conversations: readonly ConversationSeen[];
  readonly kills: readonly Kill[];
  /** All of the backend's, whoever's they are. */
  readonly requests: readonly BackendRequest[];
  readonly serviceLog: string;
  /** Must occur nowhere. */
  readonly secrets: readonly string[];
}

/** A law that was broken, and how. */
export type Wrong = (law: string, says: string) => void;
