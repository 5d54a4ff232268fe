/**
 * "The same call again", for the breaker over repeated failures. Models jitter: other spaces, another case, a fresh
 * request id or time. What carries no meaning is taken out, so that the jitter does not hide the loop. Never used to
 * decide whether something was done or may be done: two different acts may share a fingerprint.
 */
import { canonicalJson } from "../protocol/canonical-json.ts";
import { sha256 } from "./digests.ts";

/** Members that only name the request. */
const VOLATILE =
  /^(?:(?:request|trace|span|correlation|idempotency|call|session|client)_?(?:id|key)|nonce|uuid|timestamp|time_?stamp|ts|now|seed|attempts?|retry|retries|try)$/i;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const TIME = /\b\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?\b/gi;

/** @param args parsed where they could be parsed, else the model's own text */
export async function fingerprintOf(tool: string, args: unknown): Promise<string> {
  return `${tool}:${(await sha256(canonicalJson(settled(args) ?? null))).slice(0, 22)}`;
}

function settled(value: unknown): unknown {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => !VOLATILE.test(name) && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, settled(member)]));
}

const text = (value: string): string =>
  value.toWellFormed().replace(UUID, "#").replace(TIME, "#").replaceAll(/\s+/g, " ").trim().toLowerCase();
