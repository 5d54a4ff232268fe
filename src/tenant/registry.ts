/**
 * The tenant's register of idempotency keys: a key belongs to one request of one conversation, over all users, endpoints
 * and conversations, for at least a day (**I6**). It knows digests and ids, never a body or an answer: those are the
 * actor's receipts.
 *
 * A claim is made before the actor commits and stays when it has; the claim of a command that was then refused is given
 * back. A crash in between leaves a claim that the same request finds again, and nobody else can use until it expires.
 * What an earlier life of the actor had on the way when it died changes nothing once a later one has claimed.
 */
import * as z from "zod";
import { migrateActor } from "../sql/actor-migrations.ts";
import { decodeRow, type Sql } from "../sql/rows.ts";

export const KEY_LIFE_MS = 24 * 3_600_000;
/** Longer than a dead actor can still have a claim on the way. */
export const FREED_MS = 60_000;

const MIGRATIONS = [
  {
    id: 1,
    sql: `CREATE TABLE claims (
      key TEXT PRIMARY KEY,
      digest TEXT NOT NULL,
      conversation_id TEXT NOT NULL,
      holders INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX claims_by_expiry ON claims (expires_at)`,
  },
  { id: 2, sql: "ALTER TABLE claims ADD COLUMN life TEXT NOT NULL DEFAULT ''" },
  // A row more for each claim, for the sake of one sweep a day.
  { id: 3, sql: "DROP INDEX claims_by_expiry" },
];

/** `holders` 0: given back, and remembered for a while so that a claim that comes too late does not take it again. */
const Claim = z.object({
  digest: z.string(),
  conversation_id: z.string(),
  holders: z.number(),
  life: z.string(),
  expires_at: z.number(),
});

export interface ClaimRequest {
  readonly key: string;
  readonly digest: string;
  readonly conversationId: string;
  /**
   * Of the actor that claims; a later life has a greater one. Holders of an earlier life have died with it, and will
   * never give anything back.
   */
  readonly life: string;
}

export class Registry {
  readonly #sql: Sql;

  /** @param now epoch ms */
  constructor(sql: Sql, now: number) {
    this.#sql = sql;
    migrateActor(sql, MIGRATIONS, now);
  }

  /** @returns false: the key belongs to another request */
  claim({ key, digest, conversationId, life }: ClaimRequest, now: number): boolean {
    const held = this.#find(key);
    const mine = held?.digest === digest && held.conversation_id === conversationId;
    if (held && held.expires_at > now && held.holders > 0 && !mine) return false;
    if (mine && held.life > life) return held.holders > 0;
    this.#sql.exec(
      `INSERT INTO claims (key, digest, conversation_id, holders, expires_at, life) VALUES (?1, ?2, ?3, 1, ?4, ?6)
       ON CONFLICT (key) DO UPDATE SET digest = ?2, conversation_id = ?3, expires_at = ?4, holders = ?5, life = ?6`,
      key,
      digest,
      conversationId,
      now + KEY_LIFE_MS,
      mine && held.life === life ? held.holders + 1 : 1,
      life,
    );
    return true;
  }

  /** Gives one claim back. While another holder of the same request is left, the key stays taken. */
  release({ key, digest, conversationId, life }: ClaimRequest, now: number): void {
    const held = this.#find(key);
    if (held?.digest !== digest || held.conversation_id !== conversationId || held.life !== life) return;
    if (held.holders === 0) return;
    const expires = held.holders > 1 ? held.expires_at : now + FREED_MS;
    this.#sql.exec("UPDATE claims SET holders = holders - 1, expires_at = ?2 WHERE key = ?1", key, expires);
  }

  /** Forgets what has expired. @returns when to come back (epoch ms), or null: the register is empty */
  sweep(now: number): number | null {
    this.#sql.exec("DELETE FROM claims WHERE expires_at <= ?", now);
    const [next] = this.#sql.exec("SELECT min(expires_at) AS at FROM claims").toArray();
    return typeof next?.["at"] === "number" ? next["at"] : null;
  }

  #find(key: string): z.infer<typeof Claim> | null {
    const rows = this.#sql.exec(
      "SELECT digest, conversation_id, holders, life, expires_at FROM claims WHERE key = ?",
      key,
    );
    return decodeRow(Claim, rows.toArray());
  }
}
