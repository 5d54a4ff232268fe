/** About the service itself: what it is, whether it lives, whether it can work, who asks, which agents there are. */
import * as z from "zod";
import { AgentDescription } from "../protocol/agent.ts";
import { reject } from "../protocol/problems.ts";
import { PROTOCOL_VERSION, SUBPROTOCOL } from "../protocol/version.ts";
import { langFor } from "./language.ts";
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

const About = z.object({
  name: z.string(),
  description: z.string(),
  protocol: z.object({ version: z.int(), subprotocol: z.string() }),
  model: z.object({ scripted: z.boolean() }),
});
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
    path: "/",
    summary: "What this is.",
    answers: { 200: { description: "The service.", schema: About } },
    handle: async (_, { settings }) =>
      ok(200, {
        name: "Holdpoint",
        description: "Runs AI-agent conversations, and holds before every act that needs a person's yes.",
        protocol: { version: PROTOCOL_VERSION, subprotocol: SUBPROTOCOL },
        // Without a model of its own it answers from a script, and says so.
        model: { scripted: settings.model.apiKey === undefined && settings.model.baseUrl === undefined },
      }),
  }),
  publicRoute({
    ...open,
    path: "/healthz",
    summary: "Alive: the Worker runs with settings that it accepts.",
    answers: { 200: { description: "Alive.", schema: Health } },
    handle: async (_, { settings }) =>
      ok(200, { status: "ok", environment: settings.environment, developmentSignIn: settings.devSignIn }),
  }),
  publicRoute({
    ...open,
    path: "/readyz",
    summary: "Ready: what it depends on answers.",
    answers: { 200: { description: "Ready.", schema: Readiness } },
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
    answers: { 200: { description: "The sign-in.", schema: Me } },
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
    answers: { 200: { description: "All of them.", schema: z.object({ data: z.array(AgentDescription) }) } },
    handle: async ({ request, context }) =>
      ok(200, { data: await agents(langFor(request, context.locale)), nextCursor: null }),
  });

const pause = (ms: number): Promise<null> => new Promise((done) => setTimeout(() => done(null), ms));
