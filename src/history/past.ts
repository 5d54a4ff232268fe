/** The log as the history has it, read from the journal: what a hole is filled with. */
import type { OutboxJournal } from "../actor/ports.ts";
import type { Event } from "../protocol/events.ts";
import type { Past } from "./fill.ts";

const PAGE = { limit: 500, maxBytes: 1024 * 1024 } as const;

export function past(journal: OutboxJournal, lacks: ReadonlySet<number>): Past {
  return {
    until: journal.projectedSeq(),
    lacks,
    ofRun: (runId) => ofRun(journal, runId),
    ofTypes: (types) => journal.eventsOf(types),
  };
}

function* ofRun(journal: OutboxJournal, runId: string): Generator<Event> {
  for (let after = 0; ;) {
    const page = journal.events({ ...PAGE, after, runId });
    for (const { event } of page) yield event;
    const last = page.at(-1);
    if (!last) return;
    after = last.event.seq;
  }
}
