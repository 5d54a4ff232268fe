/**
 * Older events become current ones here and nowhere else; the rest of the code knows the newest shapes only. A released
 * version's entry is never changed: recorded logs of every release must still fold (golden files).
 */
import type { EventType } from "../protocol/events.ts";
import { EVENT_VERSION } from "../protocol/version.ts";

/** By event type, the change of `data` from one version to the next; a type without an entry did not change. */
export type Upcast = Partial<Record<EventType, (data: unknown) => unknown>>;

/** The first entry brings version 1 to 2. There is no version but 1 yet. */
export const UPCASTS: readonly Upcast[] = [];

/** The event was written by a newer release: reading it as ours would be a guess. */
export class NewerEventError extends Error {
  override readonly name = "NewerEventError";
}

/** `data` of an event of version `v`, as the current version has it. */
export function upcast(
  type: EventType,
  v: number,
  data: unknown,
  { upcasts, current }: { upcasts: readonly Upcast[]; current: number } = { upcasts: UPCASTS, current: EVENT_VERSION },
): unknown {
  if (v > current) throw new NewerEventError(`${type} has version ${v}; this release knows ${current}`);
  return upcasts.slice(v - 1, current - 1).reduce((known, change) => change[type]?.(known) ?? known, data);
}
