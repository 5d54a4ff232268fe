/** `POST /dev/token`: signs anybody in as anybody, on a developer's machine. Absent elsewhere. */
import * as z from "zod";
import { Principal } from "../protocol/principal.ts";
import { SCOPES } from "../protocol/roles.ts";
import { PlainTenantId, PlainUserId } from "./claims.ts";
import { DEVELOPMENT_RULES, signDevelopmentToken } from "./development-tokens.ts";
import { deriveKey } from "./keys.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NONE, ok, publicRoute, type Route } from "./route.ts";

const DEFAULT_TTL_S = 3_600;
/** What an ordinary user of the agents needs; nothing that reaches other people's conversations. */
export const DEVELOPMENT_SCOPES: readonly string[] = [
  SCOPES.conversationsRead,
  SCOPES.conversationsWrite,
  SCOPES.confirmationsDecide,
  SCOPES.usageRead,
  "plans:write",
  "services:restart",
  "config:write",
  "incidents:write",
  "lab:transfer",
];

const TokenRequest = z.strictObject({
  userId: PlainUserId,
  tenantId: PlainTenantId.default("development"),
  roles: Principal.shape.roles.default([]),
  scopes: Principal.shape.scopes.default([...DEVELOPMENT_SCOPES]),
  locale: z.string().max(35).optional(),
  ttlSeconds: z.int().min(1).max(DEVELOPMENT_RULES.maxLifetimeSeconds).default(DEFAULT_TTL_S),
});

export const DEVELOPMENT_ROUTE: Route = publicRoute({
  method: "POST",
  path: "/dev/token",
  summary: "Development sign-in: a token for whomever you name.",
  scope: null,
  params: NONE,
  query: NONE,
  body: TokenRequest,
  bodyUse: "required",
  bodyExample: EXAMPLES.developmentToken,
  key: "none",
  answers: { 200: { description: "The token.", schema: z.object({ token: z.string() }), example: EXAMPLES.token } },
  handle: async ({ body }, { settings, now }) => {
    const { ttlSeconds, ...who } = body;
    const key = await deriveKey(settings.masterKey, "development-sign-in");
    return ok(200, { token: await signDevelopmentToken(key, who, now(), ttlSeconds) });
  },
});
