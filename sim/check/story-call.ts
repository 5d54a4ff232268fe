/** The moves of one call: which event may follow which, and who may bring it about. */
import type { Event } from "../../src/protocol/events.ts";
import type { CallStory, RunStory } from "./story-parts.ts";

/** What a call's moves are judged against. */
export interface Told {
  readonly calls: Map<string, CallStory>;
  readonly places: ReadonlyMap<string, string>;
  wrong(law: string, says: string): void;
  executing(runId: string): CallStory[];
}

export function tellCall(story: Told, event: Event, run: RunStory): void {
  if (event.type === "tool_call.proposed") {
    const { toolCallId, tool, effect, idempotencyKey, gate, argsDigest } = event.data;
    if (story.calls.has(toolCallId)) story.wrong("X13", `${toolCallId} is proposed twice`);
    story.calls.set(toolCallId, {
      id: toolCallId,
      runId: run.id,
      tool,
      effect,
      key: idempotencyKey,
      gated: gate !== null,
      quorum: gate?.quorum ?? 0,
      selfApproval: gate?.selfApproval ?? true,
      argsDigest,
      expiresAt: null,
      state: "proposed",
      attempt: 0,
      mode: "",
      approvals: [],
      rejected: false,
      freshly: 0,
      resolved: null,
      openedAt: 0,
    });
    return;
  }
  if (!("toolCallId" in event.data) || event.type === "tool_call.refused") return;
  const call = story.calls.get(event.data.toolCallId);
  if (!call) return story.wrong("X13", `${event.type} (${event.seq}) of a call that never was`);
  const from = (...states: string[]) => {
    if (!states.includes(call.state))
      story.wrong("X13", `${call.id}: ${event.type} (${event.seq}) while ${call.state}`);
  };
  const at = Date.parse(event.at);
  switch (event.type) {
    case "confirmation.requested":
      // Also right after an edit that has to be seen again.
      from("proposed", "awaiting_confirmation");
      call.state = "awaiting_confirmation";
      call.argsDigest = event.data.argsDigest;
      call.quorum = event.data.gate.quorum;
      call.selfApproval = event.data.gate.selfApproval;
      call.expiresAt = Date.parse(event.data.expiresAt);
      call.openedAt = at;
      call.approvals = [];
      return;
    case "confirmation.decided": {
      if (call.state !== "awaiting_confirmation")
        story.wrong("X9", `${call.id} is decided (${event.seq}) while ${call.state}`);
      if (call.expiresAt !== null && at >= call.expiresAt) story.wrong("X8", `${call.id} is decided after it expired`);
      mayDecide(story, call, run, event.data.by.id ?? "", "X8");
      const { decision, argsDigest, closed, voided, by } = event.data;
      if (decision === "reject") call.rejected = true;
      else {
        if (decision === "approve" && argsDigest !== call.argsDigest)
          story.wrong("X8", `${call.id} is approved with other arguments`);
        if (decision === "edit") call.approvals = [];
        call.argsDigest = argsDigest;
        if (!voided) call.approvals.push({ by: by.id ?? "", seq: event.seq });
      }
      if (closed) {
        call.state = decision === "reject" ? "rejected" : "approved";
        const people = new Set(call.approvals.map((one) => one.by)).size;
        if (decision !== "reject" && people < call.quorum)
          story.wrong("X8", `${call.id} closes with ${people} of ${call.quorum}`);
      } else if (decision === "reject") story.wrong("X9", `${call.id} stays open after a rejection`);
      return;
    }
    case "confirmation.expired": {
      from("awaiting_confirmation", "approved");
      const { reason } = event.data;
      if (reason !== "stale" && call.expiresAt !== null && at < call.expiresAt)
        story.wrong("X17", `${call.id} expires too early`);
      call.state = "expired";
      return;
    }
    case "tool_call.started": {
      const { attempt, mode, argsDigest, idempotencyKey } = event.data;
      const again = call.state === "executing";
      if (!again && call.freshly === 0 && call.expiresAt !== null && at >= call.expiresAt) {
        story.wrong("X8", `${call.id} starts after its yes has expired`);
      }
      if (!again) from(call.gated || call.freshly > 0 ? "approved" : "proposed");
      if (attempt !== call.attempt + 1) story.wrong("X13", `${call.id}: attempt ${attempt} after ${call.attempt}`);
      if (argsDigest !== call.argsDigest) story.wrong("X8", `${call.id} starts with other arguments`);
      if (idempotencyKey !== call.key) story.wrong("X6", `${call.id} starts with another key`);
      if (run.halted) story.wrong("X12", `${call.id} starts after the stop (${event.seq})`);
      if (again && call.effect === "once") story.wrong("X6", `${call.id} is repeated (${event.seq})`);
      const acting = story.executing(run.id).filter((one) => one.effect !== "read" && one !== call);
      if (call.effect !== "read" && acting.length > 0) story.wrong("X14", `${call.id} starts beside ${acting[0]?.id}`);
      const doubt = [...story.calls.values()].find(
        (one) => one.runId === run.id && one !== call && one.state === "unknown" && one.resolved === null,
      );
      if (call.effect !== "read" && !again && doubt)
        story.wrong("X11", `${call.id} starts while ${doubt.id} is unknown`);
      const open = [...story.calls.values()].find(
        (one) => one.runId === run.id && one.state === "awaiting_confirmation",
      );
      if (call.gated && !again && open && call.freshly === 0)
        story.wrong("X8", `${call.id} starts while ${open.id} is undecided`);
      Object.assign(call, { attempt, mode, state: "executing" });
      return;
    }
    case "tool_call.finished": {
      const { state } = event.data;
      if (state === "cancelled") from("proposed", "awaiting_confirmation", "approved", "executing");
      else if (state === "failed") from("executing", "proposed", "approved");
      else from("executing");
      call.state = state;
      return;
    }
    case "tool_call.became_unknown":
      // An approved call that was ambiguous before a person sent it anew may become unknown again.
      from("executing", "approved");
      if (call.effect === "read") story.wrong("X11", `${call.id} reads, and is unknown`);
      call.state = "unknown";
      call.resolved = null;
      return;
    case "tool_call.resolved": {
      from("unknown");
      if (call.resolved !== null) story.wrong("X9", `${call.id} is resolved twice`);
      mayDecide(story, call, run, event.data.by.id ?? "", "X8");
      const { outcome, state } = event.data;
      call.resolved = outcome;
      call.state = state;
      if (state === "approved") {
        if (run.status === "ended") story.wrong("X13", `${call.id} is to run again in a run that has ended`);
        call.freshly += 1;
        call.expiresAt = null;
      }
      return;
    }
    default:
      return;
  }
}

function mayDecide(story: Told, call: CallStory, run: RunStory, user: string, law: string): void {
  const place = story.places.get(user);
  const allowed = place === "owner" || place === "editor" || place === "approver" || user === run.by;
  if (!allowed) story.wrong(law, `${call.id} is decided by ${user}, who has no say`);
  if (call.gated && !call.selfApproval && user === run.by) story.wrong(law, `${call.id} is decided by its own starter`);
  if (user === "bob" && call.tool === "restart") story.wrong(law, `${call.id} is decided without its scope`);
}
