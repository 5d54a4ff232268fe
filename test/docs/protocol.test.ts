/** docs/protocol.md against the code: each of its tables has what there is, no more and no less. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { routesOf } from "../../src/edge/routes.ts";
import { readSettings } from "../../src/edge/settings.ts";
import { ClientFrame } from "../../src/protocol/commands.ts";
import { EVENT_DATA } from "../../src/protocol/events.ts";
import { CLOSE, ServerFrame } from "../../src/protocol/frames.ts";
import { RATES } from "../../src/protocol/limits.ts";
import { PROBLEMS } from "../../src/protocol/problems.ts";
import { WHO_MAY } from "../../src/protocol/roles.ts";
import { STOPS } from "../../src/protocol/stops.ts";
import { SUBPROTOCOL } from "../../src/protocol/version.ts";
import { DEVELOPMENT, emptyActor, emptyHistory, emptyRestore, emptyTenants } from "../edge/support/edge.ts";

const page = await readFile(join(import.meta.dirname, "../../docs/protocol.md"), "utf8");

/** Rows of the first table under a heading, cell by cell, without the head. */
function tableUnder(heading: string): string[][] {
  const section = page.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  const rows = rest.slice(0, end < 0 ? rest.length : end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  if (rows.length < 3) throw new Error(`no table under ${heading}`);
  return rows.slice(2);
}
const columns = (heading: string, ...wanted: number[]) =>
  tableUnder(heading).map((row) => wanted.map((at) => row[at] ?? ""));

/** Members as the page writes them: `a, b?`. */
function membersOf(schema: z.ZodObject): string {
  const members = Object.entries(schema.shape).filter(([name]) => name !== "type");
  return members.map(([name, member]) => (member instanceof z.ZodOptional ? `${name}?` : name)).join(", ");
}
const typeOf = (schema: z.ZodObject): unknown => [...(schema.shape["type"]?._zod.values ?? [])][0];

test("routes, with the scope that each asks for", () => {
  const table = routesOf({
    settings: readSettings(DEVELOPMENT),
    actor: async () => emptyActor,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: () => 0,
    history: emptyHistory,
    agents: async () => [],
    tenants: emptyTenants,
    restore: emptyRestore,
  });
  const known = table.map(({ method, path, auth, scope }) => [method, path, auth === "none" ? "open" : (scope ?? "—")]);
  expect(columns("Routes", 0, 1, 2).toSorted()).toEqual(known.toSorted());
});

test("who may", () => {
  const cell = (allowed: string) => (allowed === "no" ? "" : allowed);
  const known = Object.entries(WHO_MAY).map(([right, { what, viewer, approver, editor, owner, starter }]) => [
    right,
    what,
    ...[viewer, approver, editor, owner, starter].map(cell),
  ]);
  expect(tableUnder("Who may")).toEqual(known);
  const { commandBurst, commandsPerMinute } = RATES;
  expect(page).toContain(`"commands";q=${commandBurst};w=${(commandBurst * 60) / commandsPerMinute}`);
});

test("events, with the members of their data", () => {
  const known = Object.entries(EVENT_DATA).map(([type, data]) => [type, membersOf(data)]);
  expect(columns("Events", 0, 1)).toEqual(known);
});

test("frames, with their members", () => {
  const sorted = (members: string) => members.split(", ").toSorted().join(", ");
  for (const [heading, frames] of [
    ["Frames from a client", ClientFrame.options],
    ["Frames from the server", ServerFrame.options],
  ] as const) {
    const known = frames.map((frame) => [typeOf(frame), sorted(membersOf(frame))]);
    const written = columns(heading, 0, 1).map(([type = "", members = ""]) => [type, sorted(members)]);
    expect(written, heading).toEqual(known);
  }
});

test("close codes", () => {
  expect(columns("Close codes", 0, 1)).toEqual(Object.entries(CLOSE).map(([name, code]) => [String(code), name]));
});

test("problems, with status and whether to try again", () => {
  const known = Object.entries(PROBLEMS).map(([code, { status, retryable }]) => [
    code,
    String(status),
    retryable ? "yes" : "",
  ]);
  expect(columns("Problems", 0, 1, 2)).toEqual(known);
});

test("stop codes, with how the run ends and whether to try again", () => {
  const known = Object.entries(STOPS).map(([code, { status, retryable }]) => [code, status, retryable ? "yes" : ""]);
  expect(columns("Stop codes", 0, 1, 2)).toEqual(known);
});

test("the subprotocol, and every link into the tree", () => {
  expect(page).toContain(`subprotocol \`${SUBPROTOCOL}\``);
  expect(page).not.toMatch(/\]\((?!http|#)[^)]*\)/);
});
