/** The table *Who may* of the protocol, cell by cell, and what follows from it. */
import { expect, test } from "vitest";
import { may, Role, rolesThatMay, startersMay, WHO_MAY, type Permission } from "../../src/protocol/roles.ts";
import { COMMAND_PERMISSION, COMMAND_SCOPE } from "../../src/protocol/scopes.ts";

const TABLE: Record<Permission, string> = {
  //               viewer approver editor owner starter
  read_messages: "yes yes yes yes yes",
  read_details: "no yes yes yes yes",
  decide: "no yes yes yes policy",
  start_runs: "no no yes yes no",
  control_any_run: "no no own yes yes",
  manage: "no no no yes no",
  replay: "no no no yes no",
};
const PERMISSIONS = Object.keys(TABLE) as Permission[];

test.each(PERMISSIONS)("%s", (permission) => {
  const { viewer, approver, editor, owner, starter } = WHO_MAY[permission];
  expect([viewer, approver, editor, owner, starter].join(" ")).toBe(TABLE[permission]);
  expect(rolesThatMay(permission)).toEqual(Role.options.filter((role) => WHO_MAY[permission][role] === "yes"));
  expect(startersMay(permission)).toBe(starter !== "no");
});

test("is whole, and nobody without a place may do anything", () => {
  expect(Object.keys(WHO_MAY)).toEqual(PERMISSIONS);
  for (const permission of PERMISSIONS) expect(may(null, permission)).toBe(false);
});

test("every command has its scope and its place said", () => {
  expect(Object.keys(COMMAND_PERMISSION)).toEqual(Object.keys(COMMAND_SCOPE));
});
