import { expect, test } from "vitest";
import { d1Destination } from "../../src/history/destination.ts";
import { fillHole, type Past } from "../../src/history/fill.ts";
import { leaveOut, project } from "../../src/history/project.ts";
import { EventType, type Event } from "../../src/protocol/events.ts";
import type { D1OnNodeSqlite } from "../support/d1-on-node-sqlite.ts";
import { randomOf, randomStory } from "./random-story.ts";
import { longStory, type Script } from "./script.ts";
import { bring, everything, history, noPayloads } from "./support.ts";

const past = (script: Script, until: number, ...lacks: number[]): Past => ({
  until,
  lacks: new Set(lacks),
  ofRun: (runId) => script.events.filter((event) => event.runId === runId),
  ofTypes: (types) => script.events.filter(({ type }) => types.includes(type)),
});

async function bringWithout(db: D1OnNodeSqlite, script: Script, out: ReadonlySet<number>): Promise<void> {
  const destination = d1Destination(db);
  let batch: Event[] = [];
  const flush = async () => {
    if (batch.length > 0) await destination.write(script.subject, project(script.subject, batch, noPayloads));
    batch = [];
  };
  for (const event of script.events) {
    if (!out.has(event.seq)) {
      batch.push(event);
      continue;
    }
    await flush();
    await destination.write(script.subject, leaveOut(script.subject, event));
  }
  await flush();
}

/** Without the numbers of the search's documents, which tell in which order they came. */
const rows = (db: D1OnNodeSqlite) => {
  const { search: _search, search_docs: _docs, ...rest } = everything(db);
  const docs = db.rows(`SELECT d.conversation_id, d.n, s.readers, s.words, s.singles FROM search_docs d
    JOIN search s ON s.rowid = d.doc WHERE s.words <> '' OR s.singles <> '' ORDER BY 1, 2`);
  return { ...rest, docs };
};

const fill = async (db: D1OnNodeSqlite, script: Script, event: Event, ...lacks: number[]) => {
  const statements = fillHole(script.subject, event, past(script, script.events.length, ...lacks), noPayloads);
  await d1Destination(db).write(script.subject, statements);
  return statements.length;
};

/** The first, the last and one between. */
const someOfEachType = (events: readonly Event[]): Event[] =>
  EventType.options.flatMap((type) => {
    const all = events.filter((event) => event.type === type);
    const some = [all[0], all[all.length >> 1], all.at(-1)];
    return [...new Set(some.filter((event) => event !== undefined))];
  });

const stories = [longStory(), randomStory(14, 150), randomStory(17, 150), randomStory(43, 150)];

test("the stories have nearly every type of event", () => {
  const seen = new Set(stories.flatMap(({ events }) => events.map(({ type }) => type)));
  const never = ["conversation.deleted"];
  expect(EventType.options.filter((type) => !seen.has(type) && !never.includes(type))).toEqual([]);
});

test.for([...stories.entries()])(
  "an event of any type that is left out and filled in later, whatever came after it, gives the same rows: story %i",
  async ([, script]) => {
    const wanted = history();
    await bring(wanted, script);
    const expected = rows(wanted);
    for (const event of someOfEachType(script.events.slice(1))) {
      const db = history();
      await bringWithout(db, script, new Set([event.seq]));
      expect(db.rows("SELECT seq FROM holes"), event.type).toEqual([{ seq: event.seq }]);
      expect(await fill(db, script, event), event.type).toBeLessThanOrEqual(49);
      expect(rows(db), `${event.seq} ${event.type}`).toEqual(expected);
      db.sqlite.close();
    }
  },
);

test("many that are left out are filled in any order, one by one", async () => {
  for (const [n, script] of stories.entries()) {
    const wanted = history();
    await bring(wanted, script);
    for (let seed = 1; seed <= 6; seed++) {
      const random = randomOf(seed * 100 + n);
      const out = script.events.filter(({ type }) => type !== "conversation.created" && random() < 0.25);
      const db = history();
      await bringWithout(db, script, new Set(out.map(({ seq }) => seq)));
      const left = out.map((event) => ({ event, order: random() })).toSorted((a, b) => a.order - b.order);
      for (const [at, { event }] of left.entries()) {
        const lacks = left.slice(at + 1).map((later) => later.event.seq);
        await fill(db, script, event, ...lacks);
        expect(db.rows("SELECT seq FROM holes ORDER BY seq").map(({ seq }) => seq)).toEqual(
          lacks.toSorted((a, b) => a - b),
        );
      }
      expect(rows(db)).toEqual(rows(wanted));
      db.sqlite.close();
    }
  }
});

test("what fills a hole closes none once the history has moved on, and changes nothing the second time", async () => {
  const script = longStory();
  const wanted = history();
  await bring(wanted, script);
  for (const event of script.events.slice(1, -6)) {
    const db = history();
    await bringWithout(db, script, new Set([event.seq]));
    const early = fillHole(script.subject, event, past(script, script.events.length - 3), noPayloads);
    const late = fillHole(script.subject, event, past(script, script.events.length), noPayloads);
    await d1Destination(db).write(script.subject, early);
    expect(db.rows("SELECT seq FROM holes")).toEqual([{ seq: event.seq }]);
    for (const batch of [late, early, late]) {
      await d1Destination(db).write(script.subject, batch);
      expect(rows(db), `${event.seq} ${event.type}`).toEqual(rows(wanted));
    }
    db.sqlite.close();
  }
});
