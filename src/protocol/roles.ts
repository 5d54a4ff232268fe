/** *Who may*, as data: what each role may do. The one place; edge, core and stream read it from here. */
import * as z from "zod";

export const Role = z.enum(["owner", "editor", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;

export const PERMISSIONS = {
  read_messages: ["viewer", "approver", "editor", "owner"],
  read_details: ["approver", "editor", "owner"],
  decide: ["approver", "editor", "owner"],
  start_runs: ["editor", "owner"],
  /** Of others' runs; one's own run is always one's own. */
  control_any_run: ["owner"],
  manage: ["owner"],
  replay: ["owner"],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof PERMISSIONS;

export const may = (role: Role | null, permission: Permission): boolean =>
  role !== null && (PERMISSIONS[permission] as readonly Role[]).includes(role);

export const SCOPES = {
  conversationsRead: "conversations:read",
  conversationsWrite: "conversations:write",
  confirmationsDecide: "confirmations:decide",
  handoverOperate: "handover:operate",
  usageRead: "usage:read",
  tenantAdmin: "tenant:admin",
  platformAdmin: "platform:admin",
} as const;
