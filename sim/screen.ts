/** What a person at a screen knows: the calls and runs of the frames and answers that came so far. */
import type { Conversation } from "../src/protocol/conversation.ts";
import type { Event } from "../src/protocol/events.ts";
import { isTerminal } from "../src/protocol/events.ts";

export interface SeenCall {
  readonly id: string;
  readonly runId: string;
  readonly tool: string;
  args: unknown;
  argsDigest: string;
  attempt: number;
  state: string;
  expiresAt: number;
}

export class Screen {
  readonly calls = new Map<string, SeenCall>();
  /** In the order of their start; and what they are. */
  readonly runs = new Map<string, "queued" | "active" | "ended">();
  continuation: { readonly runId: string; readonly limit: string } | null = null;
  handover = "none";
  generation = "";
  readonly #seen = new Set<number>();

  /** @returns whether it was news */
  event(event: Event): boolean {
    if (this.#seen.has(event.seq)) return false;
    this.#seen.add(event.seq);
    const { runId } = event;
    if (runId !== undefined && event.type === "run.queued" && !this.runs.has(runId)) this.runs.set(runId, "queued");
    if (runId !== undefined && event.type === "run.started") this.runs.set(runId, "active");
    if (runId !== undefined && isTerminal(event.type)) this.runs.set(runId, "ended");
    switch (event.type) {
      case "confirmation.requested": {
        const { toolCallId: id, tool, args, argsDigest, expiresAt } = event.data;
        const known = { id, runId: runId ?? "", tool, args, argsDigest, attempt: 0, state: "awaiting_confirmation" };
        this.calls.set(id, { ...known, expiresAt: Date.parse(expiresAt) });
        break;
      }
      case "tool_call.proposed": {
        const { toolCallId: id, tool, args, argsDigest } = event.data;
        const known = { id, runId: runId ?? "", tool, args, argsDigest, attempt: 0, state: "proposed" };
        this.calls.set(id, { ...known, expiresAt: 0 });
        break;
      }
      case "confirmation.decided":
        if (event.data.args !== undefined) {
          this.#set(event.data.toolCallId, { args: event.data.args, argsDigest: event.data.argsDigest });
        }
        if (event.data.closed) this.#set(event.data.toolCallId, { state: "decided" });
        break;
      case "tool_call.started":
        this.#set(event.data.toolCallId, { state: "executing", attempt: event.data.attempt });
        break;
      case "tool_call.became_unknown":
        this.#set(event.data.toolCallId, { state: "unknown", attempt: event.data.attempt });
        break;
      case "tool_call.finished":
      case "tool_call.resolved":
        this.#set(event.data.toolCallId, { state: event.data.state === "unknown" ? "given_up" : event.data.state });
        break;
      case "confirmation.expired":
        this.#set(event.data.toolCallId, { state: "expired" });
        break;
      case "limit.tripped":
        if (event.data.ask && runId !== undefined) this.continuation = { runId, limit: event.data.limit };
        break;
      case "limit.continued":
        this.continuation = null;
        break;
      case "handover.requested":
        this.handover = "requested";
        break;
      case "handover.accepted":
        this.handover = "active";
        break;
      case "handover.released":
        this.handover = "none";
        break;
      default:
        break;
    }
    return true;
  }

  snapshot({ pending, activeRun, queued, handover, headCursor }: Conversation): void {
    this.generation = headCursor.slice(0, 8);
    this.handover = handover.state;
    for (const call of pending) {
      if (call.argsDigest === "") continue;
      const { id, runId, tool, args, argsDigest, attempt, state, expiresAt } = call;
      const until = Date.parse(expiresAt ?? "") || 0;
      this.calls.set(id, { id, runId, tool, args, argsDigest, attempt, state, expiresAt: until });
    }
    if (activeRun) this.runs.set(activeRun.id, "active");
    for (const { id } of queued) this.runs.set(id, "queued");
  }

  inState(state: string): SeenCall[] {
    return [...this.calls.values()].filter((call) => call.state === state);
  }

  runsThat(are: "queued" | "active" | "ended"): string[] {
    return [...this.runs].filter(([, is]) => is === are).map(([id]) => id);
  }

  #set(id: string, more: Partial<SeenCall>): void {
    const call = this.calls.get(id);
    if (call) Object.assign(call, more);
  }
}
