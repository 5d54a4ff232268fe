/** X1, X2, X15: what was acknowledged is in the log once; one key is one request; and in the order of real time. */
import type { Command } from "../../src/protocol/commands.ts";
import type { Event } from "../../src/protocol/events.ts";
import type { Asked, Observation } from "../observation.ts";

type Wrong = (law: string, says: string) => void;

export function checkCommands(seen: Observation, wrong: Wrong): void {
  const done: { readonly asked: Asked; readonly seq: number; readonly at: number }[] = [];
  for (const asked of seen.asked) {
    const oks = asked.told.flatMap(({ outcome, at }) => (outcome.kind === "ok" ? [{ ...outcome, at }] : []));
    const bodies = new Set(oks.map(({ body }) => body));
    if (asked.key !== null && bodies.size > 1)
      wrong("X2", `${asked.id} (${asked.command.type}) got ${bodies.size} different answers`);
    if (asked.user === "mallory" && oks.length > 0) wrong("X2", `a stranger's ${asked.command.type} was taken`);
    const marks = marksOf(asked, seen.log);
    if (marks === null) continue;
    if (marks.length > 1) wrong("X2", `${asked.id} (${asked.command.type}) happened ${marks.length} times`);
    if (oks.length > 0) checkShown(asked, marks, wrong);
    const refusedOnly = asked.told.length > 0 && asked.told.every(({ outcome }) => outcome.kind === "refused");
    if (oks.length > 0 && marks.length === 0)
      wrong("X1", `${asked.id} (${asked.command.type}) was acknowledged and is not in the log`);
    if (refusedOnly && asked.sent === asked.told.length && marks.length > 0) {
      wrong("X1", `${asked.id} (${asked.command.type}) was refused and is in the log`);
    }
    const [mark] = marks;
    const firstOk = Math.min(...oks.map(({ at }) => at));
    if (mark && oks.length > 0) done.push({ asked, seq: mark.seq, at: firstOk });
  }
  checkKeys(seen.asked, wrong);
  for (const a of done) {
    for (const b of done) {
      if (a.at < b.asked.invokedAt && a.seq > b.seq)
        wrong("X15", `${a.asked.id} was answered before ${b.asked.id} was asked, and is after it`);
    }
  }
}

/** X8: a yes is for the arguments that the person was shown, and for no others. */
function checkShown({ id, command }: Asked, marks: readonly Event[], wrong: Wrong): void {
  const asked = command.type === "resume" ? command.body.decisions?.[0] : undefined;
  const [mark] = marks;
  if (asked?.decision !== "approve" || mark?.type !== "confirmation.decided") return;
  if (mark.data.argsDigest !== asked.argsDigest)
    wrong("X8", `${id} said yes to other arguments than it was counted for`);
}

/** The events that can only be this command's; null where it leaves no mark of its own. */
function marksOf(asked: Asked, log: readonly Event[]): Event[] | null {
  const { command } = asked;
  switch (command.type) {
    case "create_conversation":
      return log.filter(({ type }) => type === "conversation.created");
    case "start_run":
      return log.filter(
        (event) =>
          event.type === "run.queued" &&
          event.data.input.text === command.body.input.text &&
          event.data.retryOf === undefined,
      );
    case "resume":
      return decisionsOf(command, log);
    case "say_as_operator":
      return log.filter(
        (event) => event.type === "message.created" && saysText(event.data.message.parts, command.body.text),
      );
    default:
      return null;
  }
}

const saysText = (parts: readonly { readonly type: string }[], text: string): boolean =>
  parts.some((part) => "text" in part && part.text === text);

function decisionsOf(command: Extract<Command, { type: "resume" }>, log: readonly Event[]): Event[] | null {
  const reason = command.body.decisions?.[0]?.reason;
  if (reason === undefined) return null;
  return log.filter((event) => event.type === "confirmation.decided" && event.data.reason === reason);
}

function checkKeys(asked: readonly Asked[], wrong: Wrong): void {
  const byKey = new Map<string, Asked[]>();
  for (const one of asked) if (one.key !== null) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  for (const [key, users] of byKey) {
    const taken = users.filter(({ told }) => told.some(({ outcome }) => outcome.kind === "ok"));
    if (taken.length > 1)
      wrong("X2", `the key ${key} served ${taken.map(({ command }) => command.type).join(" and ")}`);
  }
}
