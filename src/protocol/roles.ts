/**
 * *Who may*, as data: what each place in a conversation allows, and what having started a run allows besides. The one
 * place: core, stream and history read it from here, `docs/protocol.md` is compared with it, and a test walks every
 * route by it.
 */
import * as z from "zod";

export const Role = z.enum(["owner", "editor", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;

/** `own`: of one's own runs. `policy`: where the tool's policy does not forbid approving oneself. */
export type Allowed = "yes" | "no" | "own" | "policy";

interface Right extends Readonly<Record<Role, Allowed>> {
  readonly what: string;
  /** Whoever started the run, whatever their place is now. */
  readonly starter: Allowed;
}

export const WHO_MAY = {
  read_messages: {
    what: "read messages, run states",
    viewer: "yes",
    approver: "yes",
    editor: "yes",
    owner: "yes",
    starter: "yes",
  },
  read_details: {
    what: "arguments, results, steps in events",
    viewer: "no",
    approver: "yes",
    editor: "yes",
    owner: "yes",
    starter: "yes",
  },
  decide: { what: "decide and resolve", viewer: "no", approver: "yes", editor: "yes", owner: "yes", starter: "policy" },
  start_runs: { what: "start runs, upload", viewer: "no", approver: "no", editor: "yes", owner: "yes", starter: "no" },
  control_any_run: {
    what: "cancel, retry, edit queued",
    viewer: "no",
    approver: "no",
    editor: "own",
    owner: "yes",
    starter: "yes",
  },
  manage: {
    what: "share, rename, archive, delete",
    viewer: "no",
    approver: "no",
    editor: "no",
    owner: "yes",
    starter: "no",
  },
  replay: { what: "replay and bundles", viewer: "no", approver: "no", editor: "no", owner: "yes", starter: "no" },
} as const satisfies Record<string, Right>;

export type Permission = keyof typeof WHO_MAY;

/** Of one's own run, one's own place does not count: ask `startersMay`. */
export const may = (role: Role | null, permission: Permission): boolean =>
  role !== null && WHO_MAY[permission][role] === "yes";

export const startersMay = (permission: Permission): boolean => WHO_MAY[permission].starter !== "no";

/** The roles that may, whatever run it is about. */
export const rolesThatMay = (permission: Permission): Role[] => Role.options.filter((role) => may(role, permission));

export const SCOPES = {
  conversationsRead: "conversations:read",
  conversationsWrite: "conversations:write",
  confirmationsDecide: "confirmations:decide",
  handoverOperate: "handover:operate",
  usageRead: "usage:read",
  tenantAdmin: "tenant:admin",
  platformAdmin: "platform:admin",
} as const;
