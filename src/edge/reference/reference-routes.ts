/**
 * The service's description of itself: OpenAPI, the schemas of its events, a page for people, and what stands at the
 * root. Made at the first request for it and kept; nobody pays for it at start-up.
 */
import * as z from "zod";
import { PROTOCOL_VERSION, SUBPROTOCOL } from "../../protocol/version.ts";
import { NO_BODY, NONE, ok, publicRoute, type Answered, type Route, type RouteDescription } from "../route.ts";
import { DOCS_SCRIPT } from "./docs-script.ts";
import { eventSchemas } from "./event-schemas.ts";
import { EXAMPLES } from "./examples.ts";
import { openApi } from "./openapi.ts";
import { renderPage, STYLE, type RenderedPage } from "./page.ts";

const open = {
  method: "GET",
  scope: null,
  params: NONE,
  query: NONE,
  body: NO_BODY,
  bodyUse: "none",
  key: "none",
} as const;

const DESCRIPTION = "Runs AI-agent conversations, and holds before every act that needs a person's yes.";

const About = z.object({
  name: z.string(),
  description: z.string(),
  protocol: z.object({ version: z.int(), subprotocol: z.string() }),
  model: z.object({ scripted: z.boolean() }),
  links: z.object({ docs: z.string(), openapi: z.string(), events: z.string() }),
});
const Document = z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });
const JsonSchemaDocument = z.looseObject({ $defs: z.record(z.string(), z.unknown()) });

/** @param table all routes of the service, these among them */
export function referenceRoutes(table: () => readonly RouteDescription[]): readonly Route[] {
  const document = once(() => JSON.stringify(openApi(table())));
  const events = once(() => JSON.stringify(eventSchemas()));
  let docs: RenderedPage | null = null;
  let front: RenderedPage | null = null;
  return [
    publicRoute({
      ...open,
      path: "/",
      summary: "What this is, as JSON or as a page.",
      types: ["application/json", "text/html"],
      answers: {
        200: {
          description: "The service.",
          schema: About,
          example: EXAMPLES.about,
          types: ["application/json", "text/html"],
        },
      },
      handle: async ({ type }, { settings }) => {
        if (type === "text/html") return page((front ??= await renderPage(FRONT)));
        return ok(200, {
          name: "Holdpoint",
          description: DESCRIPTION,
          protocol: { version: PROTOCOL_VERSION, subprotocol: SUBPROTOCOL },
          // Without a model of its own it answers from a script, and says so.
          model: { scripted: settings.model.apiKey === undefined && settings.model.baseUrl === undefined },
          links: EXAMPLES.about.links,
        });
      },
    }),
    publicRoute({
      ...open,
      path: "/docs",
      summary: "This reference, as a page.",
      types: ["text/html"],
      answers: { 200: { description: "The page.", schema: null, types: ["text/html"] } },
      handle: async () => page((docs ??= await renderPage(DOCS))),
    }),
    publicRoute({
      ...open,
      path: "/v1/openapi.json",
      summary: "This API, in OpenAPI 3.1.",
      answers: {
        200: { description: "The document.", schema: Document, example: { openapi: "3.1.0", paths: {} } },
      },
      handle: async () => text(document()),
    }),
    publicRoute({
      ...open,
      path: "/v1/events.schema.json",
      summary: "Events and socket frames, in JSON Schema 2020-12.",
      answers: { 200: { description: "The schemas.", schema: JsonSchemaDocument, example: { $defs: {} } } },
      handle: async () => text(events()),
    }),
  ];
}

function once(make: () => string): () => string {
  let made: string | null = null;
  return () => (made ??= make());
}

/** It is the same for everybody until the next release, so anybody may keep it for a while. */
const KEPT = { "cache-control": "public, max-age=300" };
const text = (json: string): Answered => answer(json, { ...KEPT, "content-type": "application/json" });
const page = ({ html, headers }: RenderedPage): Answered => answer(html, { ...KEPT, ...headers });
const answer = (body: string, headers: Readonly<Record<string, string>>): Answered => ({
  ok: true,
  value: { response: new Response(body, { headers }) },
});

const DOCS = {
  title: "Holdpoint API",
  style: STYLE,
  script: DOCS_SCRIPT,
  body: `<h1>Holdpoint API</h1>
<p class="soft" id="status" role="status">Reading the description…</p>
<p>Machines read <a href="/v1/openapi.json">/v1/openapi.json</a> and <a href="/v1/events.schema.json">/v1/events.schema.json</a>.</p>
<input id="find" type="search" placeholder="Find a route or a shape" aria-label="Find a route or a shape">
<main></main>
<noscript><p>This page shows the OpenAPI document with a script.</p></noscript>`,
};

const FRONT = {
  title: "Holdpoint",
  style: STYLE,
  body: `<h1>Holdpoint</h1>
<p>${DESCRIPTION}</p>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/v1/openapi.json">OpenAPI document</a></li>
<li><a href="/v1/events.schema.json">Schemas of events and socket frames</a></li>
<li><a href="/readyz">Is it ready?</a></li>
</ul>`,
};
