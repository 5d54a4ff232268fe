/**
 * The journal of one conversation on its own SQLite: `commit` is the one function that opens a transaction for the log.
 * Must not decide anything, nor keep truth in memory: what it remembers (head, identity, alarm, the outbox's cursor) is
 * as the rows say, and is read again by the next life of the object.
 *
 * Keeps **I2**, **I8**, **I11** (nothing here awaits but `erase`). An object that was never initialised keeps no
 * tables: they are made in the transaction of the first commit.
 */
import type {
  Cause,
  Checkpoint,
  Commit,
  EncodedEvent,
  Journal,
  OutboxJournal,
  Receipt,
  TicketBook,
  TimerKind,
  Tombstone,
} from "../actor/ports.ts";
import { isTerminal, type Event, type EventType } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import type { Page } from "../protocol/rpc.ts";
import type { Run } from "../protocol/run.ts";
import { LIMITS } from "../protocol/limits.ts";
import { EMPTY, type State } from "../run/state.ts";
import type { ActorMigration } from "../sql/actor-migrations.ts";
import * as caches from "./caches.ts";
import * as log from "./event-log.ts";
import { readMessages, type MessageQuery } from "./messages.ts";
import { clearMeta, readMeta, writeMeta } from "./meta.ts";
import { hasTable, migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import * as outbox from "./outbox.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { StorageLostError } from "./storage-lost.ts";
import { burnTicket } from "./tickets.ts";
import { readTombstone, writeTombstone } from "./tombstone.ts";

/** What the journal needs beside SQL. */
export interface JournalHost {
  /** Epoch ms; only to date a migration. */
  now(): number;
  /** In the same turn as the rows, so that both are durable or neither is. */
  setAlarm(at: number): void;
  /** Everything, the alarm too. */
  deleteAll(): Promise<void>;
  /** Size of the database in bytes. */
  bytes(): number;
}

interface Opened {
  readonly conversationId: string;
  head: number;
}

export class SqlJournal implements Journal, OutboxJournal, TicketBook {
  readonly #db: SqlDatabase;
  readonly #host: JournalHost;
  readonly #migrations: readonly ActorMigration[];
  /** undefined: not looked yet; null: looked, and there is nothing. */
  #opened: Opened | null | undefined;
  /** These are asked for in every turn; undefined: not read yet. */
  #alarmAt: number | null | undefined;
  #projected: number | undefined;
  #identity: State["identity"] = null;

  constructor(db: SqlDatabase, host: JournalHost, migrations: readonly ActorMigration[] = MIGRATIONS) {
    this.#db = db;
    this.#host = host;
    this.#migrations = migrations;
  }

  open(): State | null {
    const opened = this.#look();
    if (!opened) return null;
    const state = log.fold(this.#db, opened.conversationId, caches.foldStart(this.#db));
    if (state.seq !== opened.head) throw new StorageLostError(`the log ends at ${opened.head}, not at ${state.seq}`);
    return state;
  }

  /** The state without the snapshot's help: what the snapshot must equal. */
  foldFromStart(): State | null {
    const opened = this.#look();
    return opened && log.fold(this.#db, opened.conversationId, EMPTY);
  }

  commit(commit: Commit): void {
    const opened = this.#look() ?? this.#first(commit);
    const { events, state } = commit;
    const head = opened.head + events.length;
    if (state.seq !== head) throw new RangeError(`the state is at ${state.seq}, the log at ${head}`);
    this.#db.transactionSync(() => {
      if (!this.#opened) this.#initialise(opened.conversationId);
      for (const payload of commit.payloads) caches.putPayload(this.#db, payload);
      log.append(this.#db, opened.head, events, commit.causes);
      if (commit.receipt) caches.putReceipt(this.#db, commit.receipt);
      for (const run of commit.endedRuns) caches.putRun(this.#db, run);
      caches.setTimers(this.#db, commit.timers);
      if (events.some(({ event }) => isTerminal(event.type))) caches.putSnapshot(this.#db, state);
    });
    this.#opened = { conversationId: opened.conversationId, head };
  }

  receipt(key: string): Receipt | null {
    return this.#look() ? caches.receipt(this.#db, key) : null;
  }

  payload(digest: string): string | null {
    return this.#look() ? caches.payload(this.#db, digest) : null;
  }

  events(query: log.LogQuery): EncodedEvent[] {
    const opened = this.#look();
    return opened ? log.readEvents(this.#db, opened.conversationId, query) : [];
  }

  event(seq: number): EncodedEvent | null {
    const [found] = this.events({ after: seq - 1, limit: 1, maxBytes: 0 });
    return found?.event.seq === seq ? found : null;
  }

  *eventsOf(types: readonly EventType[]): Generator<Event> {
    const opened = this.#look();
    if (!opened) return;
    for (const { event } of log.eventsOfTypes(this.#db, opened.conversationId, types)) yield event;
  }

  /** What replay decides again: the inputs behind the events after `after`. */
  *causes(after: number): Generator<Cause> {
    if (this.#look()) yield* log.causesAfter(this.#db, after);
  }

  messages(query: MessageQuery): Page<Message> {
    const opened = this.#look();
    if (!opened) return { data: [], nextCursor: null };
    return readMessages(this.#db, opened.conversationId, query, (digest) => caches.payload(this.#db, digest));
  }

  endedRun(runId: string): Run | null {
    return this.#look() ? caches.endedRun(this.#db, runId) : null;
  }

  endedRuns({ before, limit }: { before: number; limit: number }): Run[] {
    return this.#look() ? caches.endedRuns(this.#db, before, limit) : [];
  }

  checkpoint(): Checkpoint | null {
    return this.#look() ? caches.checkpoint(this.#db) : null;
  }

  saveCheckpoint(checkpoint: Checkpoint | null): void {
    if (!checkpoint && !this.#look()) return;
    this.#write((db) => caches.putCheckpoint(db, checkpoint));
  }

  timers(): Partial<Record<TimerKind, number>> {
    return this.#look() ? caches.timers(this.#db) : {};
  }

  setTimers(timers: Partial<Record<TimerKind, number | null>>): void {
    this.#write((db) => caches.setTimers(db, timers));
  }

  alarmAt(): number | null {
    if (!this.#look()) return null;
    if (this.#alarmAt === undefined) {
      const at = readMeta(this.#db, "alarm_at");
      this.#alarmAt = at === null ? null : Number(at);
    }
    return this.#alarmAt;
  }

  setAlarm(at: number): void {
    // First: where the row cannot be written, an alarm too many does no harm, and one that does not come does.
    this.#host.setAlarm(at);
    this.#write((db) => writeMeta(db, "alarm_at", String(at)));
    this.#alarmAt = at;
  }

  alarmFired(): void {
    if (!this.#look()) return;
    clearMeta(this.#db, "alarm_at");
    this.#alarmAt = null;
  }

  burnTicket(nonce: string, expiresAt: number, now: number): boolean {
    this.#required();
    return this.#db.transactionSync(() => burnTicket(this.#db, nonce, expiresAt, now));
  }

  async erase(tombstone: Tombstone): Promise<void> {
    this.#opened = null;
    this.#alarmAt = this.#projected = undefined;
    this.#identity = null;
    const gone = this.#host.deleteAll();
    // In the turn of the deletion: a crash between the two would turn "erased" into "never was".
    writeTombstone(this.#db, tombstone);
    await gone;
    if (!this.tombstone()) writeTombstone(this.#db, tombstone);
  }

  tombstone(): Tombstone | null {
    return readTombstone(this.#db);
  }

  bytes(): number {
    return this.#host.bytes();
  }

  unprojected(limit: number): EncodedEvent[] {
    const opened = this.#look();
    if (!opened) return [];
    const query = { after: this.projectedSeq(), limit, maxBytes: LIMITS.catchUpBytes };
    return query.after < opened.head ? log.readEvents(this.#db, opened.conversationId, query) : [];
  }

  projectedSeq(): number {
    if (!this.#look()) return 0;
    this.#projected ??= outbox.projectedSeq(this.#db);
    return this.#projected;
  }

  markProjected(seq: number): void {
    const { head } = this.#required();
    if (seq > head) throw new RangeError(`event ${seq} is not in the log, which ends at ${head}`);
    if (seq <= this.projectedSeq()) return;
    outbox.markProjected(this.#db, seq);
    this.#projected = seq;
  }

  park(seq: number, reason: string): void {
    this.#write((db) => outbox.park(db, seq, reason));
  }

  unpark(seq: number): void {
    this.#write((db) => outbox.unpark(db, seq));
  }

  parked(): { seq: number; reason: string; attempts: number }[] {
    return this.#look() ? outbox.parked(this.#db) : [];
  }

  identity(): State["identity"] {
    if (this.#identity) return this.#identity;
    const created = this.event(1)?.event;
    if (created?.type !== "conversation.created") return null;
    const { title: _title, ...identity } = created.data;
    this.#identity = identity;
    return identity;
  }

  #look(): Opened | null {
    if (this.#opened !== undefined) return this.#opened;
    if (!hasTable(this.#db, "_migrations")) return (this.#opened = null);
    this.#db.transactionSync(() => migrate(this.#db, this.#migrations, this.#host.now()));
    const conversationId = readMeta(this.#db, "conversation_id");
    if (conversationId === null) throw new StorageLostError("the conversation's id is gone");
    return (this.#opened = { conversationId, head: log.headOf(this.#db) });
  }

  #first({ state }: Commit): Opened {
    if (!state.identity) throw new Error("the first commit must create the conversation");
    if (this.tombstone()) throw new Error("an erased conversation is never initialised again");
    return { conversationId: state.identity.conversationId, head: 0 };
  }

  #initialise(conversationId: string): void {
    migrate(this.#db, this.#migrations, this.#host.now());
    writeMeta(this.#db, "conversation_id", conversationId);
  }

  #required(): Opened {
    const opened = this.#look();
    if (!opened) throw new Error("the conversation was never initialised, or is erased");
    return opened;
  }

  #write(run: (db: SqlDatabase) => void): void {
    this.#required();
    this.#db.transactionSync(() => run(this.#db));
  }
}
