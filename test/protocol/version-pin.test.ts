/**
 * The shapes on the wire and in the log, by hash. When one changes, ask: does a client or a log of the released version
 * still understand it? If not, raise PROTOCOL_VERSION (or EVENT_VERSION, with an upcast). Then pin the new hash, which
 * the failing assertion shows, in `wire-pins.ts`.
 */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { EVENT_DATA } from "../../src/protocol/events.ts";
import { EVENT_VERSION, PROTOCOL_VERSION, SUBPROTOCOL } from "../../src/protocol/version.ts";
import { PINNED, PINS } from "./wire-pins.ts";

const PROTOCOL = join(import.meta.dirname, "../../src/protocol");

/** Every schema that the protocol's modules export, and the data of every event. */
async function schemas(): Promise<Map<string, z.ZodType>> {
  const found = new Map<string, z.ZodType>();
  for (const file of readdirSync(PROTOCOL)) {
    const module = (await import(join(PROTOCOL, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) if (value instanceof z.ZodType) found.set(name, value);
  }
  for (const [type, data] of Object.entries(EVENT_DATA)) found.set(type, data);
  return found;
}

function hashOf(schema: z.ZodType): string {
  const shape = JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  return createHash("sha256").update(shape).digest("hex").slice(0, 12);
}

test("The versions are the ones that the pins belong to", () => {
  expect({ protocol: PROTOCOL_VERSION, event: EVENT_VERSION, subprotocol: SUBPROTOCOL }).toEqual(PINNED);
  expect(SUBPROTOCOL).toBe(`holdpoint.v${PROTOCOL_VERSION}`);
});

test("No shape on the wire or in the log has changed unnoticed", async () => {
  const hashes = [...(await schemas())].map(([name, schema]) => [name, hashOf(schema)] as const);
  expect(hashes.length).toBeGreaterThan(80);
  expect(Object.fromEntries(hashes)).toEqual(PINS);
});

test("A changed shape has another hash", () => {
  const shape = z.object({ a: z.string() });
  expect(hashOf(shape)).toBe(hashOf(z.object({ a: z.string() })));
  const others = [
    shape.extend({ b: z.int().optional() }),
    z.strictObject({ a: z.string() }),
    z.object({ a: z.string().max(9) }),
  ];
  expect(new Set([shape, ...others].map(hashOf)).size).toBe(4);
});
