/** About the service itself: whether it lives, whether it can work, who asks, which agents there are. */
import * as z from "zod";
import { AgentDescription } from "../protocol/agent.ts";
import { reject } from "../protocol/problems.ts";
import { langFor } from "./language.ts";
import { pageOf } from "./paths.ts";
import { EXAMPLES } from "./reference/examples.ts";
import { NO_BODY, NONE, ok, publicRoute, userRoute, type Route } from "./route.ts";

const READY_WITHIN_MS = 2_000;
const open = {
  method: "GET",
  scope: null,
  params: NONE,
  query: NONE,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
} as const;

const Health = z.object({ status: z.literal("ok"), environment: z.string(), developmentSignIn: z.boolean() });
const Readiness = z.object({ ready: z.literal(true), checks: z.record(z.string(), z.boolean()) });
const Me = z.object({
  tenantId: z.string(),
  userId: z.string(),
  roles: z.array(z.string()),
  scopes: z.array(z.string()),
  locale: z.string().optional(),
  /** When this sign-in ends. */
  expiresAt: z.string(),
});

export const SERVICE_ROUTES: readonly Route[] = [
  publicRoute({
    ...open,
    path: "/healthz",
    summary: "Alive: the Worker runs with settings that it accepts.",
    answers: { 200: { description: "Alive.", schema: Health, example: EXAMPLES.health } },
    handle: async (_, { settings }) =>
      ok(200, { status: "ok", environment: settings.environment, developmentSignIn: settings.devSignIn }),
  }),
  publicRoute({
    ...open,
    path: "/readyz",
    summary: "Ready: what it depends on answers.",
    answers: { 200: { description: "Ready.", schema: Readiness, example: EXAMPLES.readiness } },
    problems: ["overloaded"],
    handle: async ({ trace }, { readiness, log }) => {
      let checks: Readonly<Record<string, boolean>> = {};
      try {
        checks = (await Promise.race([readiness?.() ?? {}, pause(READY_WITHIN_MS)])) ?? { inTime: false };
      } catch (error) {
        log.error("readiness_failed", error, { requestId: trace.requestId });
        checks = { readable: false };
      }
      if (Object.values(checks).every(Boolean)) return ok(200, { ready: true, checks });
      const detail = "Something that this depends on does not answer.";
      return { ok: false, rejection: reject("overloaded", detail, { extensions: { ready: false, checks } }) };
    },
  }),
  userRoute({
    ...open,
    path: "/v1/me",
    summary: "Who I am, as this service understands my sign-in.",
    answers: { 200: { description: "The sign-in.", schema: Me, example: EXAMPLES.me } },
    handle: async ({ context }) => {
      const { tenantId, userId, roles, scopes, locale, expiresAt } = context;
      const until = new Date(expiresAt).toISOString();
      return ok(200, {
        tenantId,
        userId,
        roles,
        scopes,
        ...(locale === undefined ? {} : { locale }),
        expiresAt: until,
      });
    },
  }),
];

export const agentsRoute = (
  agents: (locale: string | undefined) => Promise<readonly z.infer<typeof AgentDescription>[]>,
): Route =>
  userRoute({
    ...open,
    path: "/v1/agents",
    summary: "The agents, their tools, what each tool does and who must agree.",
    answers: { 200: { description: "All of them.", schema: pageOf(AgentDescription), example: EXAMPLES.agents } },
    handle: async ({ request, context }) =>
      ok(200, { data: await agents(langFor(request, context.locale)), nextCursor: null }),
  });

const pause = (ms: number): Promise<null> => new Promise((done) => setTimeout(() => done(null), ms));
