/**
 * No act without a yes, watched from the log alone: a gated call starts only after its quorum of different people has
 * approved exactly the arguments that it starts with, and never in the turn that proposed it.
 */
import type { Event, Gate } from "../../src/protocol/events.ts";
import type { Input } from "../../src/run/inputs.ts";

interface Watched {
  readonly gate: Gate;
  readonly approvals: Map<string, Set<string>>;
  open: boolean;
  rejected: boolean;
}

export class GateWatch {
  readonly #gated = new Map<string, Watched>();

  turn(input: Input, events: readonly Event[]): void {
    const proposed = new Set<string>();
    for (const event of events) {
      switch (event.type) {
        case "tool_call.proposed": {
          const { toolCallId, gate } = event.data;
          proposed.add(toolCallId);
          if (gate) this.#gated.set(toolCallId, { gate, approvals: new Map(), open: true, rejected: false });
          break;
        }
        case "confirmation.requested":
          this.#gated.set(event.data.toolCallId, {
            gate: event.data.gate,
            approvals: new Map(),
            open: true,
            rejected: false,
          });
          break;
        case "confirmation.decided": {
          if (input.type !== "command") throw new Error(`law broken: ${input.type} decides a confirmation`);
          const { toolCallId, decision, argsDigest, by, voided, closed } = event.data;
          const watched = this.#gated.get(toolCallId);
          if (!watched?.open) throw new Error("law broken: a confirmation closes once (I7)");
          if (decision === "reject") watched.rejected = true;
          if (decision !== "reject" && !voided) people(watched, argsDigest).add(by.id ?? "");
          if (closed) watched.open = false;
          break;
        }
        case "confirmation.expired": {
          const watched = this.#gated.get(event.data.toolCallId);
          if (watched) watched.open = false;
          break;
        }
        case "tool_call.started": {
          const { toolCallId, argsDigest } = event.data;
          const watched = this.#gated.get(toolCallId);
          if (!watched) break;
          const said = people(watched, argsDigest).size;
          if (proposed.has(toolCallId)) throw new Error(`law broken: ${toolCallId} runs in the turn that proposed it`);
          if (watched.open || watched.rejected || said < watched.gate.quorum) {
            throw new Error(`law broken: ${toolCallId} runs with ${said} of ${watched.gate.quorum} yes`);
          }
          if (input.type === "model_answered") throw new Error("law broken: a model's answer starts a gated call");
          break;
        }
        default:
      }
    }
  }
}

function people(watched: Watched, argsDigest: string): Set<string> {
  const known = watched.approvals.get(argsDigest) ?? new Set<string>();
  watched.approvals.set(argsDigest, known);
  return known;
}
