/** X1 to X3: what clients were answered, against the log. */
import { askedOf, conversation, eventOf, events, found, rewritten, type Wrong } from "./recording.ts";

export const WRONG_ACKNOWLEDGED: readonly Wrong[] = [
  [
    "X1",
    "an acknowledged start is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "run.queued").data.input.text = "#31-0-999 -";
      rewritten(one);
    },
  ],
  [
    "X1",
    "an acknowledged decision is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "confirmation.decided").data.reason = "another";
      rewritten(one);
    },
  ],
  [
    "X1",
    "an acknowledged cancel did not cancel",
    (seed) => {
      const one = conversation(seed, 0);
      const { command } = askedOf(one, "cancel_run");
      if (command.type === "cancel_run") command.runId = found(eventOf(one, "run.completed").runId, "run");
    },
  ],
  [
    "X1",
    "an acknowledged resolution is not in the log",
    (seed) => {
      const one = conversation(seed, 0);
      eventOf(one, "tool_call.resolved").data.outcome = "did_not_happen";
      rewritten(one);
    },
  ],
  [
    "X1",
    "the run that was answered was never queued",
    (seed) => {
      const [told] = askedOf(conversation(seed, 1), "start_run").told.filter(({ outcome }) => outcome.kind === "ok");
      if (told?.outcome.kind === "ok") told.outcome.body = told.outcome.body.replace(/\.r\d+"/, '.r99"');
    },
  ],
  [
    "X2",
    "one key gets two answers",
    (seed) => {
      const asked = askedOf(conversation(seed, 0), "start_run");
      const [told] = asked.told;
      asked.told.push({
        ...found(told, "answer"),
        outcome: { kind: "ok", status: 202, body: '{"id":"x"}', replayed: true },
      });
    },
  ],
  [
    "X2",
    "a command happened twice",
    (seed) => {
      const one = conversation(seed, 1);
      const [first, second] = events(one, "run.queued");
      found(second, "second run").data.input.text = found(first, "first run").data.input.text;
      rewritten(one);
    },
  ],
  [
    "X3",
    "the log has a gap",
    (seed) => {
      const one = conversation(seed, 0);
      one.seen.log.splice(20, 1);
      rewritten(one);
    },
  ],
  [
    "X3",
    "time goes back",
    (seed) => {
      const one = conversation(seed, 0);
      found(one.seen.log[40], "event").at = "2020-01-01T00:00:00.000Z";
      rewritten(one);
    },
  ],
];
