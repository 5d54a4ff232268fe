/** One conversation with its people and its watchers, and what was seen of it. */
import type { SQLInputValue } from "node:sqlite";
import { HistoryTables } from "../../sim/history.ts";
import { newObservation, type Asked, type Observation } from "../../sim/observation.ts";
import type { Random } from "../../sim/random.ts";
import { Watch } from "../../src/client/watch.ts";
import { project } from "../../src/history/project.ts";
import type { Conversation } from "../../src/protocol/conversation.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Page } from "../../src/protocol/rpc.ts";
import type { Run } from "../../src/protocol/run.ts";
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import { nowMs, pause, Signal } from "../common/figures.ts";
import { signIn, type Person } from "../common/people.ts";
import type { HistoryFile } from "./history-file.ts";
import { People } from "./person.ts";
import type { Reaper } from "./reaper.ts";
import type { BackendRequest, Connection, ConversationSeen, ModelRequest } from "./seen.ts";
import { Sender } from "./sender.ts";
import type { Surroundings } from "./surroundings.ts";
import { Watcher } from "./watchers.ts";

export interface RoomDeps {
  readonly n: number;
  readonly seed: number;
  readonly baseUrl: string;
  readonly reaper: Reaper;
  readonly surroundings: Surroundings;
  readonly random: (use: string) => Random;
}

export interface Evidence {
  readonly history: HistoryFile;
  readonly requests: readonly BackendRequest[];
  readonly effects: Readonly<Record<string, number>>;
  readonly models: ReadonlyMap<string, readonly ModelRequest[]>;
}

interface Cast {
  readonly owner: Person;
  readonly approver: Person;
  readonly viewer: Person;
}

const EVENTS_PAGE = 200;
/** After which people look again although nothing seems to have happened. */
const IDLE_MS = 300;
/** Of confirmations in two of the eight conversations, so that some expire. */
const SHORT_MS = "1500";

export class Room {
  readonly id: string;
  readonly people: People;
  /** Where the history stood at some of the kills. */
  readonly stood: number[] = [];
  readonly #deps: RoomDeps;
  readonly #cast: Cast;
  readonly #asked: Asked[];
  readonly #sender: Sender;
  readonly #generation: string;
  readonly #snapshots: Observation["snapshots"] = [];
  readonly #connections: Connection[] = [];
  readonly #watch: Watch;
  readonly #watchers: readonly Watcher[];
  #change = new Signal();
  #log: Event[] = [];
  #stuck: string[] = [];
  #over = false;

  static async open(deps: RoomDeps): Promise<Room> {
    const { n, seed, baseUrl, reaper, random } = deps;
    const tenantId = `crash-${n % 2}`;
    const [owner, approver, viewer] = await Promise.all([
      signIn(baseUrl, `ann-${n}`, tenantId),
      signIn(baseUrl, `bo-${n}`, tenantId),
      signIn(baseUrl, `vi-${n}`, tenantId),
    ]);
    const asked: Asked[] = [];
    let room: Room | null = null;
    const sender = new Sender({
      baseUrl,
      random: random("sender"),
      asked,
      up: () => reaper.up(),
      hit: (trigger) => reaper.hit(trigger),
      socketOf: (user) => (user === owner.userId && room ? room.#watch : undefined),
    });
    const metadata = { model: modelOf(seed, n), ...(n % 4 === 3 ? { confirmationTtlMs: SHORT_MS } : {}) };
    const created = await sender.send(owner, "", { type: "create_conversation", body: { agent: "lab", metadata } });
    if (created?.kind !== "ok") throw new Error(`no conversation: ${JSON.stringify(created)}`);
    const { id, headCursor } = JSON.parse(created.body) as Conversation;
    for (const [{ userId }, role] of [
      [approver, "approver"],
      [viewer, "viewer"],
    ] as const) {
      await sender.send(owner, id, { type: "put_participant", userId, body: { role } }, false);
    }
    const generation = headCursor.split(".")[0] ?? "";
    room = new Room(deps, { owner, approver, viewer }, { id, generation, asked, sender });
    return room;
  }

  private constructor(
    deps: RoomDeps,
    cast: Cast,
    { id, generation, asked, sender }: { id: string; generation: string; asked: Asked[]; sender: Sender },
  ) {
    const { n, seed, baseUrl, reaper, surroundings, random } = deps;
    this.id = id;
    this.#deps = deps;
    this.#cast = cast;
    this.#asked = asked;
    this.#sender = sender;
    this.#generation = generation;
    this.people = new People({
      conversationId: id,
      mark: markOf(seed, n),
      owner: cast.owner,
      approver: cast.approver,
      random: random("people"),
      send: (person, command) => sender.send(person, id, command),
      changed: () => Promise.race([this.#change.promise, pause(IDLE_MS)]),
      look: (person) => this.#look(person),
      run: async (runId) => (await this.#get<Run>(`/v1/runs/${runId}`, cast.owner)) ?? null,
      happened: (call) => isBooked(surroundings, call),
    });
    this.#watch = new Watch({ baseUrl, token: () => cast.owner.token }, id, {
      after: `${generation}.0`,
      onEvent: () => {
        reaper.sawEvent();
        this.#change.resolve();
        this.#change = new Signal();
      },
    });
    void this.#cutNowAndThen(random("cuts"));
    const watcher = (person: Person) =>
      new Watcher(person, {
        baseUrl,
        conversationId: id,
        generation,
        random: random(`watcher ${person.userId}`),
        up: () => reaper.up(),
        sawEvent: () => reaper.sawEvent(),
        connections: this.#connections,
      });
    this.#watchers = [watcher(cast.approver), watcher(cast.viewer)];
  }

  get head(): number {
    return this.#log.length;
  }

  /** Nothing comes from here any more. */
  abandon(): void {
    this.#over = true;
    this.#watch.stop();
  }

  tokens(): string[] {
    return Object.values(this.#cast).map(({ token }) => token);
  }

  /** To the end of everything that was begun, and of one more message. */
  async settle(withinMs: number): Promise<void> {
    this.#sender.calm = true;
    this.#stuck.push(...(await this.people.settle(withinMs)));
    this.#stuck.push(...(await this.people.last(withinMs)));
  }

  /** The log through the API; then the watchers have time to see all of it. */
  async readOut(): Promise<void> {
    for (;;) {
      this.#log = await this.#readLog();
      const screen = await this.#look(this.#cast.owner);
      if (Number(screen?.headCursor.split(".")[1]) === this.head) break;
    }
    const { view } = this.#watch;
    for (const until = nowMs() + 20_000; (view.events.at(-1)?.seq ?? 0) < this.head && nowMs() < until;)
      await pause(20);
    await Promise.all(
      this.#watchers.map(async (watcher) => {
        if (!(await watcher.finish(this.head))) this.#stuck.push(`a watcher has ${watcher.has} of ${this.head} events`);
      }),
    );
    this.abandon();
  }

  seen({ history, requests, effects, models }: Evidence): ConversationSeen {
    const { owner, approver, viewer } = this.#cast;
    const { tenantId } = owner;
    const log = this.#log;
    const keys = new Set(
      log.flatMap((event) => (event.type === "tool_call.proposed" ? [event.data.idempotencyKey] : [])),
    );
    const seen: Observation = {
      ...newObservation(0, this.id),
      asked: this.#asked,
      snapshots: this.#snapshots,
      history: this.stood.map((seq) => ({ at: 0, head: this.head, seq })),
      log,
      logJson: log.map((event) => JSON.stringify(event)),
      rows: inOrder(history.rows(this.id)),
      expectedRows: inOrder(this.#expectedRows(tenantId)),
    };
    const { events, gaps, repeats } = this.#watch.view;
    return {
      seen,
      tenantId,
      mark: markOf(this.#deps.seed, this.#deps.n),
      owner: owner.userId,
      approver: approver.userId,
      viewer: viewer.userId,
      generation: this.#generation,
      connections: this.#connections,
      followed: [{ user: owner.userId, events: events.map((event) => JSON.stringify(event)), gaps, repeats }],
      requests: requests.filter(({ key }) => keys.has(key)),
      effects: Object.fromEntries(Object.entries(effects).filter(([key]) => keys.has(key))),
      dedup: this.#deps.surroundings.dedup,
      models: models.get(modelOf(this.#deps.seed, this.#deps.n)) ?? [],
      stuck: this.#stuck,
    };
  }

  /** The same log, brought once and undisturbed into an empty history. */
  #expectedRows(tenantId: string): Observation["rows"] {
    const tables = new HistoryTables();
    const subject = { tenantId, conversationId: this.id, generation: this.#generation };
    const statements = project(subject, this.#log, () => null);
    tables.batch(statements.map(({ sql, params }) => ({ sql, params: params as SQLInputValue[] })));
    const rows = tables.rows(tenantId);
    tables.close();
    return rows;
  }

  async #look(person: Person): Promise<Conversation | null> {
    const conversation = await this.#get<Conversation>(`/v1/conversations/${this.id}`, person);
    if (conversation) this.#snapshots.push({ at: nowMs(), user: person.userId, conversation });
    return conversation;
  }

  /** null: no answer, or not a good one; the caller looks again. */
  async #get<T>(path: string, person: Person): Promise<T | null> {
    await this.#deps.reaper.up();
    try {
      const response = await fetch(this.#deps.baseUrl + path, {
        headers: { authorization: `Bearer ${person.token}` },
        signal: AbortSignal.timeout(10_000),
      });
      return response.ok ? ((await response.json()) as T) : null;
    } catch {
      return null;
    }
  }

  async #readLog(): Promise<Event[]> {
    const log: Event[] = [];
    for (let after: string | null = `${this.#generation}.0`, tries = 0; after !== null;) {
      const path: string = `/v1/conversations/${this.id}/events?limit=${EVENTS_PAGE}&after=${after}`;
      const page: Page<Event> | null = await this.#get<Page<Event>>(path, this.#cast.owner);
      if (page) {
        log.push(...page.data);
        after = page.nextCursor;
      } else if (++tries > 20) throw new Error(`the log of ${this.id} cannot be read`);
    }
    return log;
  }

  async #cutNowAndThen(random: Random): Promise<void> {
    while (!this.#over) {
      await pause(random.between(200, 2_000));
      if (!this.#over) this.#watch.cut();
    }
  }
}

/** Two databases need not answer in the same order. */
const inOrder = (rows: Observation["rows"]): Observation["rows"] =>
  Object.fromEntries(
    Object.entries(rows).map(([table, list]) => [
      table,
      list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ]),
  );

const modelOf = (seed: number, n: number): string => `crash-${seed}-${n}`;
const markOf = (seed: number, n: number): string => `#${seed}-${n}`;

function isBooked({ backend }: Surroundings, { tool, args }: Pick<ToolCall, "args" | "tool">): boolean {
  const wanted = args as Record<string, unknown>;
  return backend
    .ledger()
    .bookings.some(({ body }) =>
      tool === "book_note"
        ? body["note"] === wanted["text"]
        : body["recipient_id"] === wanted["recipient_id"] && body["amount_cents"] === wanted["amount_cents"],
    );
}
