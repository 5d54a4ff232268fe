/** Waiting for the wall clock, and breaking what the alarm's duties write to. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { KILLED, withStorage } from "./life.ts";
import type { Talk } from "./talk.ts";

/** Until the machine's clock is past `at` (epoch ms). Nobody speaks to the service meanwhile. */
export async function untilPast(at: number): Promise<void> {
  await vi.waitUntil(() => Date.now() > at, { timeout: 20_000, interval: 10 });
}

/** The history takes nothing of this conversation, until it is mended. */
export async function breakHistory(talk: Talk): Promise<() => Promise<void>> {
  const name = `broken_${talk.id}`;
  for (const event of ["INSERT", "UPDATE"]) {
    await env.HISTORY.prepare(
      `CREATE TRIGGER ${name}_${event} BEFORE ${event} ON conversations WHEN NEW.conversation_id = '${talk.id}'
       BEGIN SELECT RAISE(ABORT, '${KILLED}'); END`,
    ).run();
  }
  return async () => {
    for (const event of ["INSERT", "UPDATE"]) await env.HISTORY.prepare(`DROP TRIGGER ${name}_${event}`).run();
  };
}

/** The object's log takes no event, until it is mended. */
export async function breakLog(talk: Talk): Promise<() => Promise<void>> {
  await withStorage(talk, ({ sql }) => {
    sql.exec(`CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, '${KILLED}'); END`);
  });
  return () => withStorage(talk, ({ sql }) => void sql.exec("DROP TRIGGER broken"));
}
