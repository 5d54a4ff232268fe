/** X13 to X21: how runs end and wait, what the history and the model have of them, and who may see it. */
import { askedOf, callOf, conversation, eventOf, found, requestOf, rewritten, type Wrong } from "./recording.ts";

export const WRONG_RUNS_AND_COPIES: readonly Wrong[] = [
  [
    "X13",
    "a run ends twice",
    (seed) => {
      const one = conversation(seed, 0);
      const at = one.seen.log.findIndex(({ type }) => type === "run.completed");
      one.seen.log.splice(at, 0, structuredClone(found(one.seen.log[at], "end")));
      rewritten(one);
    },
  ],
  [
    "X14",
    "a run starts while another is active",
    (seed) => {
      const one = conversation(seed, 0);
      const ends = one.seen.log.findIndex(({ type }) => type === "run.cancelled");
      one.seen.log.splice(ends, 1);
      rewritten(one);
    },
  ],
  [
    "X15",
    "what was answered before is later in the log",
    (seed) => {
      const one = conversation(seed, 1);
      const starts = one.seen.asked.filter(
        ({ command, told }) => command.type === "start_run" && told.some(({ outcome }) => outcome.kind === "ok"),
      );
      const [early, late] = [found(starts[0], "start"), found(starts.at(-1), "start")];
      for (const told of late.told) told.at = early.invokedAt - 1;
    },
  ],
  [
    "X16",
    "a run is stuck",
    (seed) => {
      conversation(seed, 0).stuck.push("r1 is still running");
    },
  ],
  [
    "X16",
    "a command is never answered",
    (seed) => {
      askedOf(conversation(seed, 0), "start_run").answeredAt = null;
    },
  ],
  [
    "X17",
    "a confirmation expires before its time",
    (seed) => {
      const one = conversation(seed, 0);
      const decided = eventOf(one, "confirmation.decided");
      const data = { toolCallId: decided.data.toolCallId, reason: "undecided", payload: decided.data.payload };
      Object.assign(decided, { type: "confirmation.expired", data });
      rewritten(one);
    },
  ],
  [
    "X18",
    "the history has another row",
    (seed) => {
      found(conversation(seed, 0).seen.rows["runs"]?.[0], "row")["status"] = "running";
    },
  ],
  [
    "X18",
    "the history lags for ever",
    (seed) => {
      found(conversation(seed, 0).seen.rows["conversations"]?.[0], "row")["seq"] = 3;
    },
  ],
  [
    "X18",
    "the history was ahead of the log",
    (seed) => {
      const { seen } = conversation(seed, 0);
      seen.history.push({ at: 0, head: seen.log.length, seq: seen.log.length + 1 });
    },
  ],
  [
    "X19",
    "a step was asked once too often",
    (seed) => {
      const one = conversation(seed, 1);
      one.models.push({ ...found(one.models[0], "request") }, { ...found(one.models[0], "request") });
      one.models.push({ ...found(one.models[0], "request") }, { ...found(one.models[0], "request") });
    },
  ],
  [
    "X20",
    "a call was made for somebody else",
    (seed) => {
      const one = conversation(seed, 1);
      requestOf(one, callOf(one, "transfer_idempotent", "succeeded").idempotencyKey).caller = "bo-1";
    },
  ],
  [
    "X20",
    "something of another conversation is shown",
    (seed) => {
      const frames = found(conversation(seed, 0).connections[0], "connection").frames;
      frames.push('{"type":"problem","problem":{"detail":"#31-1-1 transfer"}}');
    },
  ],
  [
    "X21",
    "a secret is in the output",
    (seed) => {
      seed.serviceLog += `authorization: ${found(seed.secrets[0], "secret")}`;
    },
  ],
];
