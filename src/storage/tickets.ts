/** Nonces that have been used. A row outlives its ticket by what clocks may differ, and then goes on the way. */
import type { SqlDatabase } from "./sql-database.ts";

const CLOCK_DIFFERENCE_MS = 60_000;

const FORGET = "DELETE FROM tickets WHERE expires_at < ?";
const BURN = "INSERT INTO tickets (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING nonce";

/** @param expiresAt epoch ms, of the ticket @returns false: it was used before */
export function burnTicket(db: SqlDatabase, nonce: string, expiresAt: number, now: number): boolean {
  db.exec(FORGET, now - CLOCK_DIFFERENCE_MS);
  return db.exec(BURN, nonce, expiresAt).length > 0;
}
