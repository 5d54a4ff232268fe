/**
 * The platform around one conversation: it starts lives, brings them one event at a time, commits after each turn, holds
 * what leaves until that is durable, fires the alarm, and kills. The actor in it is the real one.
 *
 * A turn is one event and all promises that settle by it. Several turns may be waiting for their commit to be durable
 * (`lagMs`); a death before that loses all of them, with whatever they would have sent.
 */
import { settled, type Kernel } from "./kernel.ts";
import { startLife, type Life, type LifeParts } from "./life.ts";
import { line, type Observation } from "./observation.ts";
import type { Fault, Strike } from "./plan.ts";
import { Killed, WriteRefused, type SimStore } from "./store.ts";
import type { SimSocket } from "./sockets.ts";

type Mode = "crash" | "evict" | "zombie";
type AlarmFault = Extract<Fault, { kind: "alarm" }>;

export interface ObjectDeps {
  readonly kernel: Kernel;
  readonly store: SimStore;
  readonly observation: Observation;
  readonly faults: readonly Fault[];
  readonly lagMs: number;
  readonly parts: Omit<LifeParts, "handle" | "life" | "object">;
}

/** An old life runs on for a while beside the new one. */
const ZOMBIE_MS = 30_000;
const ALARM_RETRY_MS = 2_000;

export class SimObject {
  readonly #deps: ObjectDeps;
  readonly #crashes: Extract<Fault, { kind: "crash" }>[];
  readonly #writeFaults: Set<number>;
  readonly #alarmFaults: AlarmFault[];
  readonly #gate: (() => void)[] = [];
  sockets: SimSocket[] = [];
  #life: Life | null = null;
  #lives = 0;
  #turns = 0;
  #releases = 0;
  #alarms = 0;
  #inTurn: Life | null = null;
  #doomed: Life | null = null;
  #confirming = false;
  /** The platform's own alarm. */
  alarmAt: number | null = null;
  #cancelAlarm: () => void = () => undefined;
  /** The alarm has fired in a turn that is not durable yet. */
  #alarmOpen = false;
  /** Faults are over. */
  calm = false;

  constructor(deps: ObjectDeps) {
    this.#deps = deps;
    const { faults, store, kernel } = deps;
    this.#crashes = faults.filter((fault) => fault.kind === "crash");
    this.#writeFaults = new Set(faults.filter((fault) => fault.kind === "write_refused").map(({ n }) => n));
    this.#alarmFaults = faults.filter((fault) => fault.kind === "alarm");
    store.onWrite = (n, what) => this.#onWrite(n, what);
    for (const fault of faults) {
      if (fault.kind === "kill") kernel.after(fault.at, () => this.#calmOr(() => this.kill(fault.mode, fault.mode)));
    }
  }

  /** Something has left the object, or reached somebody: the plan may have it die of that. */
  strike(by: Strike): void {
    const n = (this.#strikes.get(by) ?? 0) + 1;
    this.#strikes.set(by, n);
    for (const fault of this.#deps.faults) {
      if (fault.kind !== "struck" || fault.by !== by || fault.n !== n) continue;
      this.#deps.kernel.after(fault.ms, () => this.#calmOr(() => this.kill(fault.mode, fault.mode)));
    }
  }
  /** How many things left at each release. */
  readonly released: number[] = [];
  readonly #strikes = new Map<Strike, number>();

  get lives(): number {
    return this.#lives;
  }
  get turns(): number {
    return this.#turns;
  }
  get releases(): number {
    return this.#releases;
  }
  get writes(): number {
    return this.#deps.store.writes;
  }
  get life(): Life | null {
    return this.#life;
  }

  /** A request, a frame or an alarm comes in; a life begins for it where there is none. */
  async deliver(run: (life: Life) => void): Promise<void> {
    const life = this.#life ?? this.#start();
    await this.turn(life, () => run(life));
  }

  /** One event of a life. What belongs to a dead one does not happen. */
  async turn(life: Life, run: () => void): Promise<void> {
    if (life.fate === "dead") return;
    if (life.fate === "zombie") return this.#zombieTurn(run);
    const n = ++this.#turns;
    if (this.#crashAt("before", n)) return this.kill("crash", "before_handler");
    this.#inTurn = life;
    try {
      run();
    } catch (error) {
      if (!(error instanceof Killed))
        this.#deps.observation.logged.push(line(this.#deps.kernel.now, "threw", "handler", error));
    }
    await settled();
    this.#inTurn = null;
    if (this.#doomed === life) {
      this.#doomed = null;
      return this.kill("crash", "after_write");
    }
    if (this.#crashAt("after", n)) return this.kill("crash", "before_commit");
    if (this.#deps.store.dirty > 0 && this.#deps.lagMs > 0) return this.#confirmLater(life);
    if (!this.#confirming) this.#flush();
  }

  /** Held until all that was written before is durable. What no life asked for leaves at once. */
  gate(life: Life, run: () => void): void {
    if (life.fate !== "alive") return;
    this.#gate.push(run);
  }

  kill(mode: Mode, how: string): void {
    const life = this.#life;
    const { store, kernel } = this.#deps;
    this.#note(how);
    if (mode === "evict") {
      // Only an object at rest is evicted.
      if (this.#confirming || store.dirty > 0) this.#flush();
      if (this.#life !== life) return;
    }
    const unconfirmed = this.#confirming || store.dirty > 0;
    store.rollback();
    this.#confirming = false;
    this.#gate.length = 0;
    this.#doomed = null;
    this.#life = null;
    if (life) {
      life.held = unconfirmed;
      life.fate = mode === "zombie" ? "zombie" : "dead";
      if (mode === "zombie") {
        kernel.after(ZOMBIE_MS, () => {
          life.fate = "dead";
        });
      }
    }
    if (this.#alarmOpen) {
      this.#alarmOpen = false;
      if (this.alarmAt === null) this.#setAlarm(kernel.now + ALARM_RETRY_MS);
    }
    if (mode === "evict") return;
    for (const socket of this.sockets) kernel.after(this.#deps.parts.delay(), () => socket.cut(1006));
    this.sockets = [];
  }

  /** The alarm does not come, whatever was set: only a new life with a request helps. */
  forgetAlarm(): void {
    this.#cancelAlarm();
    this.alarmAt = null;
  }

  #start(): Life {
    this.#lives += 1;
    const n = this.#lives;
    const { store, parts } = this.#deps;
    const handle = store.handle(() => this.#life?.n === n && this.#doomed === null);
    this.#life = startLife({ ...parts, object: this, handle, life: n });
    if (n > 1) this.#note("restart");
    return this.#life;
  }

  async #zombieTurn(run: () => void): Promise<void> {
    this.#note("zombie_turn");
    try {
      run();
    } catch {
      // Nobody is there to hear it.
    }
    await settled();
  }

  #confirmLater(life: Life): void {
    if (this.#confirming) return;
    this.#confirming = true;
    this.#deps.kernel.after(this.#deps.lagMs, () => {
      if (this.#life !== life || !this.#confirming) return;
      this.#flush();
    });
  }

  #flush(): void {
    const { store } = this.#deps;
    const wrote = store.dirty > 0;
    this.#confirming = false;
    const alarm = store.commit();
    if (wrote) this.#head = store.head();
    this.#alarmOpen = false;
    if (alarm !== undefined) this.#setAlarm(alarm);
    if (this.#gate.length === 0 && !wrote) return;
    const n = ++this.#releases;
    const crash = this.#crashAt("release", n);
    const leaving = this.#gate.splice(0);
    this.released.push(leaving.length);
    for (const [at, leave] of leaving.entries()) {
      if (crash?.point === "release" && crash.left === at) {
        return this.kill("crash", at === 0 ? "before_release" : "between_releases");
      }
      leave();
    }
    if (crash) this.kill("crash", "after_release");
  }
  #head = 0;

  /** The last durable event. */
  get head(): number {
    return this.#head;
  }

  #setAlarm(at: number | null): void {
    this.#cancelAlarm();
    this.alarmAt = at;
    if (at === null) return;
    const { kernel } = this.#deps;
    const fault = this.calm ? undefined : this.#alarmFaults.find(({ n }) => n === this.#alarms + 1);
    if (fault) this.#alarmFaults.splice(this.#alarmFaults.indexOf(fault), 1);
    this.#alarms += 1;
    if (fault) this.#note(`alarm_${fault.how}`);
    if (fault?.how === "lost") return;
    if (fault?.how === "early") kernel.after((at - kernel.now) / 2, () => this.#fire(false));
    const late = fault?.how === "late" ? 45_000 : 0;
    this.#cancelAlarm = kernel.at(at + late, async () => {
      await this.#fire(true);
      if (fault?.how === "twice") await this.#fire(true);
    });
  }

  async #fire(own: boolean): Promise<void> {
    if (own) this.alarmAt = null;
    await this.deliver((life) => {
      if (own) this.#alarmOpen = true;
      life.actor.alarm();
    });
  }

  #onWrite(n: number, what: "row" | "alarm"): void {
    const life = this.#inTurn;
    if (!life || this.calm) return;
    // Setting the alarm answers later; what fails then breaks the gate, which is a death.
    if (this.#writeFaults.delete(n) && what === "row") {
      this.#note("write_refused");
      throw new WriteRefused("database or disk is full");
    }
    if (this.#doomed === null && !this.#crashAt("write", n)) return;
    this.#doomed = life;
    throw new Killed("killed while writing");
  }

  #crashAt(point: "write" | "before" | "after" | "release", n: number) {
    if (this.calm) return undefined;
    return this.#crashes.find((fault) => fault.point === point && fault.n === n);
  }

  #calmOr(run: () => void): void {
    if (!this.calm) run();
  }

  #note(kind: string): void {
    this.#deps.observation.blows.push({ at: this.#deps.kernel.now, kind, head: this.#head });
  }
}
