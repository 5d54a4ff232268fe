/** Who takes part, and what their sign-ins say: of the victim's tenant, of another, and administrators. */
import type { Who } from "./case.ts";

const DEFAULT_SCOPES = ["conversations:read", "conversations:write", "confirmations:decide", "lab:transfer"];

export interface Identity {
  readonly userId: string;
  readonly tenantId: string;
  readonly scopes: readonly string[];
  readonly roles?: readonly string[];
}
const acme = (userId: string, scopes: readonly string[] = DEFAULT_SCOPES, roles: readonly string[] = []): Identity => ({
  userId,
  tenantId: "acme",
  scopes,
  roles,
});
const TREASURER = ["treasurer"];
export const IDENTITIES: Readonly<Record<Exclude<Who, "nobody">, Identity>> = {
  owner: acme("ann", DEFAULT_SCOPES, TREASURER),
  editor: acme("eve"),
  approver: acme("app", DEFAULT_SCOPES, TREASURER),
  second: acme("sec", DEFAULT_SCOPES, TREASURER),
  viewer: acme("vic"),
  removed: acme("rem"),
  stranger: acme("sam"),
  // Of the same name, in another tenant.
  foreigner: { userId: "ann", tenantId: "umbra", scopes: DEFAULT_SCOPES },
  // The owner, signed in with less.
  scopeless: acme("ann", []),
  undecided: acme("ann", ["conversations:read", "conversations:write", "lab:transfer"]),
  powerless: acme("ann", ["conversations:read", "conversations:write", "confirmations:decide"]),
  admin: acme("root", ["tenant:admin"]),
  flooder: { userId: "flo", tenantId: "flood", scopes: DEFAULT_SCOPES },
  platform: { userId: "root", tenantId: "operations", scopes: ["platform:admin"] },
};
