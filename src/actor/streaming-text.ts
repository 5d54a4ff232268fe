/**
 * The text of the message in progress: a preview in memory, with a checkpoint row now and then for late watchers and
 * for the life after a crash. Never an event, never a row per delta.
 */
import { LIMITS } from "../protocol/limits.ts";
import { cutText } from "../protocol/text.ts";
import type { PartialText } from "../run/inputs.ts";
import type { Checkpoint, Clock, Journal, Publisher } from "./ports.ts";

interface Progress {
  readonly runId: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly part: number;
  readonly chunks: string[];
  length: number;
  /** Length and time of the last checkpoint. */
  savedLength: number;
  savedAt: number;
}

export class StreamingText {
  readonly #journal: Journal;
  readonly #publisher: Publisher;
  readonly #clock: Clock;
  readonly #checkpointMs: number;
  #progress: Progress | null = null;

  constructor(journal: Journal, publisher: Publisher, clock: Clock, checkpointMs: number) {
    this.#journal = journal;
    this.#publisher = publisher;
    this.#clock = clock;
    this.#checkpointMs = checkpointMs;
  }

  append(at: Pick<Checkpoint, "runId" | "messageId" | "attempt" | "part">, text: string): void {
    const progress = this.#at(at);
    const { messageId, attempt, part } = progress;
    this.#publisher.delta({ type: "delta", messageId, attempt, part, offset: progress.length, text });
    progress.chunks.push(text);
    progress.length += text.length;
    // After the frame: a write would hold it back until the disk has answered.
    const now = this.#clock.now();
    const due =
      now - progress.savedAt >= this.#checkpointMs || progress.length - progress.savedLength >= LIMITS.checkpointBytes;
    if (!due) return;
    progress.savedAt = now;
    progress.savedLength = progress.length;
    const checkpoint = this.current();
    if (checkpoint) this.#journal.saveCheckpoint(checkpoint);
  }

  /** What watchers are shown right now, or null. */
  current(): Checkpoint | null {
    const { chunks, ...progress } = this.#progress ?? { chunks: [] };
    if (!("messageId" in progress)) return null;
    const text = chunks.join("");
    chunks.splice(0, chunks.length, text);
    const { runId, messageId, attempt, part } = progress;
    return { runId, messageId, attempt, part, text };
  }

  /** For the core, bounded: an unfinished text is kept as an excerpt when no outcome will bring the whole. */
  partial(): PartialText | null {
    const current = this.current();
    return current && partialOf(current);
  }

  clear(): void {
    this.#progress = null;
  }

  #at(at: Pick<Checkpoint, "runId" | "messageId" | "attempt" | "part">): Progress {
    const { messageId, attempt, part } = this.#progress ?? {};
    if (this.#progress && messageId === at.messageId && attempt === at.attempt && part === at.part) {
      return this.#progress;
    }
    const fresh = { ...at, chunks: [], length: 0, savedLength: 0, savedAt: this.#clock.now() };
    this.#progress = fresh;
    return fresh;
  }
}

export function partialOf({ messageId, attempt, text }: Checkpoint): PartialText {
  return { messageId, attempt, text: cutText(text, LIMITS.payloadInlineBytes) };
}
