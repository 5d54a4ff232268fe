/** The table *Who may* of the protocol, row by row. What is one's own run's is asked in the core, not here. */
import { expect, test } from "vitest";
import { may, PERMISSIONS, Role, type Permission } from "../../src/protocol/roles.ts";

const TABLE: Record<Permission, string> = {
  read_messages: "owner editor approver viewer",
  read_details: "owner editor approver",
  decide: "owner editor approver",
  start_runs: "owner editor",
  control_any_run: "owner",
  manage: "owner",
  replay: "owner",
};

test.each(Object.entries(TABLE))("%s: %s", (permission, roles) => {
  const allowed = Role.options.filter((role) => may(role, permission as Permission));
  expect(allowed.join(" ")).toBe(roles);
});

test("nobody without a place may do anything", () => {
  for (const permission of Object.keys(PERMISSIONS)) expect(may(null, permission as Permission)).toBe(false);
});
