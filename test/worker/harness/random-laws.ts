/** What must hold of a conversation whatever was done to it: what all cases hold it against, and what really happened. */
import { expect } from "vitest";
import { agree } from "./agreement.ts";
import type { Talk } from "./talk.ts";

/** Lets everything come to its end, and holds it against the laws. */
export async function settleAndCheck(talk: Talk): Promise<void> {
  for (;;) {
    const { activeRun, queued: waiting } = await talk.person.client.conversation(talk.id);
    const run = activeRun ?? waiting[0];
    if (!run) break;
    await talk.person.client.cancel(run.id).catch(() => undefined);
    await talk.ended(run);
  }
  await agree(talk);
  await actsAreHonest(talk);
  stopMeansStop(talk);
  // Each attempt at a step is one request at most, whatever died meanwhile.
  expect((await talk.requests()).length).toBeLessThanOrEqual(talk.of("step.started").length);
}

/** From the wish to stop a run nothing of it begins. */
function stopMeansStop({ events }: Talk): void {
  const stopped = new Set<string>();
  for (const { type, runId = "" } of events) {
    if (type === "run.cancel_requested" || type === "run.cancelled") stopped.add(runId);
    if (type === "step.started" || type === "tool_call.started") expect(stopped).not.toContain(runId);
  }
}

/** Of what really happened at the backend: agreed to, as it was agreed to, not twice, and never told as not done. */
async function actsAreHonest(talk: Talk): Promise<void> {
  const bookings = await talk.bookings();
  for (const { type, data } of talk.events) {
    if (type !== "tool_call.proposed" || data.effect === "read") continue;
    const { toolCallId, effect, gate } = data;
    const mine = talk.events.filter((event) => "toolCallId" in event.data && event.data.toolCallId === toolCallId);
    const booked = bookings.filter(({ idempotencyKey }) => idempotencyKey === data.idempotencyKey);
    const dispatched = mine.filter((event) => event.type === "tool_call.started" && event.data.mode === "execute");
    expect(booked.length).toBeLessThanOrEqual(dispatched.length);
    const agreed = mine.filter(
      (event) => event.type === "tool_call.resolved" && event.data.outcome === "did_not_happen",
    );
    if (effect === "once") expect(dispatched.length).toBeLessThanOrEqual(1 + agreed.length);
    if (booked.length === 0) continue;
    const yes = mine.some((event) => event.type === "confirmation.decided" && event.data.decision !== "reject");
    expect(yes).toBe(gate !== null);
    const untrue = mine.filter(
      (event) =>
        event.type === "tool_call.finished" &&
        event.data.state !== "succeeded" &&
        !agreed.some(({ seq }) => seq < event.seq),
    );
    expect(untrue).toEqual([]);
  }
  const known = new Set(
    talk.events.flatMap(({ type, data }) => (type === "tool_call.proposed" ? [data.idempotencyKey] : [])),
  );
  expect(bookings.filter(({ idempotencyKey }) => !known.has(idempotencyKey ?? ""))).toEqual([]);
}
