/**
 * The life of one conversation's object: to end it without warning, to look at its rows, and to do as its alarm does, at
 * times of the test's choosing. Only this object is touched, so that cases run side by side.
 */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { provider } from "./fakes.ts";
import "./log.ts";
import type { Talk } from "./talk.ts";

/** Part of every error that a test has ordered. */
export const KILLED = "killed on purpose";

// What a test has ordered, a death or a backend that gives no clear answer, is no error of the service.
const complain = console.error.bind(console);
const ordered: string[] = [];
console.error = (line: unknown, ...more: unknown[]) => {
  if (typeof line === "string" && wasOrdered(line)) ordered.push(line);
  else complain(line, ...more);
};

/** Complaints about what tests have ordered, as they were logged. */
export const orderedErrors = (): readonly string[] => ordered;

const wasOrdered = (line: string): boolean =>
  line.includes(KILLED) || (/"(tool|probe)_threw"/.test(line) && line.includes('"AmbiguousOutcome"'));

/**
 * What a killed process leaves: rows and alarm. Memory, timers and requests in flight are gone, sockets are cut. Nothing
 * is awaited, and nothing that the object was about to say is said.
 */
export async function crash(talk: Talk): Promise<void> {
  talk.watcher.cut();
  await runInDurableObject(await talk.stub(), (_object, state) => state.abort(KILLED)).then(
    () => Promise.reject(new Error("the object lives on")),
    () => undefined,
  );
}

/** `crash`, and the watcher is back with its cursor: the first request to the new life. */
export async function crashAndComeBack(talk: Talk): Promise<void> {
  await crash(talk);
  await talk.watcher.connect();
}

export const withStorage = async <T>(talk: Talk, use: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> =>
  runInDurableObject(await talk.stub(), (_object, { storage }) => use(storage));

/** When the platform's alarm stands (epoch ms), or null. */
export const alarmAt = (talk: Talk): Promise<number | null> => withStorage(talk, (storage) => storage.getAlarm());

/** The alarm is lost: it never comes, until somebody sets it anew. */
export const loseAlarm = (talk: Talk): Promise<void> => withStorage(talk, (storage) => storage.deleteAlarm());

/** The alarm comes now, whenever it stands. */
export async function fireAlarm(talk: Talk): Promise<boolean> {
  return runDurableObjectAlarm(await talk.stub());
}

/** How many events the log has. */
export const eventCount = (talk: Talk): Promise<number> =>
  withStorage(talk, ({ sql }) => Number(sql.exec("SELECT count(*) AS n FROM events").one()["n"]));

/** Until the provider has had so many requests of this conversation. */
export async function untilAsked(talk: Talk, requests: number): Promise<void> {
  const asked = async () => {
    const { total } = await provider.stats(talk.scope);
    if (total < requests) throw new Error(`the model was asked ${total} times, not ${requests}`);
  };
  await vi.waitFor(asked, { timeout: 10_000, interval: 20 });
}
