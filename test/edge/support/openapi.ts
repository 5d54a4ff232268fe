/** The OpenAPI document as a client gets it, and the table of routes that it must agree with. */
import * as z from "zod";
import type { Actor } from "../../../src/edge/ports.ts";
import { EXAMPLES } from "../../../src/edge/reference/examples.ts";
import type { RouteDescription } from "../../../src/edge/route.ts";
import { routesOf } from "../../../src/edge/routes.ts";
import { readSettings } from "../../../src/edge/settings.ts";
import { reject } from "../../../src/protocol/problems.ts";
import { DEVELOPMENT, emptyActor, emptyHistory, emptyRestore, emptyTenants, NOW, testEdge } from "./edge.ts";

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type Members = { [member: string]: Json };
export interface Answer {
  description: string;
  content?: Record<string, { schema: Members; example?: Json; examples?: Members }>;
}
export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Members[];
  parameters: { name: string; in: string; required: boolean; schema: Members }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Members; example: Json }> };
  responses: Record<string, Answer | { $ref: string }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Members>;
}

const optional = { history: emptyHistory, agents: async () => [], tenants: emptyTenants, restore: emptyRestore };
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
export const table = routesOf({
  settings: readSettings(DEVELOPMENT),
  actor: async () => emptyActor,
  log: quiet,
  now: () => NOW,
  ...optional,
});
/** Knows nothing, but lets a conversation be made. */
const actor: Actor = {
  ...emptyActor,
  command: async (_, { command }) =>
    command.type === "create_conversation"
      ? { ok: true, value: { status: 201, body: EXAMPLES.conversation, replayed: false } }
      : { ok: false, rejection: reject("not_found", "no") },
};
export const world = () => testEdge(actor, optional);

export async function read<T>(path: string): Promise<T> {
  const answer = await world().call("GET", path, { authorization: null });
  if (answer.headers.get("content-type") !== "application/json") throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as T;
}
export const document = await read<Document>("/v1/openapi.json");

export const pathIn = (route: RouteDescription) => route.path.replaceAll(/:(\w+)/g, "{$1}");
export const nameOf = ({ method, path }: RouteDescription) => `${method} ${path}`;
export const operationOf = (route: RouteDescription): Operation => {
  const found = document.paths[pathIn(route)]?.[route.method.toLowerCase()];
  if (!found) throw new Error(`${nameOf(route)} is not documented`);
  return found;
};
export const pointed = (ref: string): Json =>
  ref
    .slice(2)
    .split("/")
    .reduce<Json>((value, step) => (value as Members)[step] ?? null, document as unknown as Json);
export const answerOf = (operation: Operation, status: string): Answer | null => {
  const answer = operation.responses[status];
  return answer === undefined ? null : "$ref" in answer ? (pointed(answer.$ref) as unknown as Answer) : answer;
};

/** Every `$ref` anywhere in a value. */
export function refsIn(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(refsIn);
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string" ? [member] : refsIn(member),
  );
}

/** By the document's own schema, not by the zod schema that it was made from. */
export function check(schema: Members, value: Json): void {
  const local = (text: string) => text.replaceAll("#/components/schemas/", "#/$defs/");
  const $defs = document.components["schemas"] ?? {};
  const whole = JSON.parse(local(JSON.stringify({ ...schema, $defs }))) as Parameters<typeof z.fromJSONSchema>[0];
  z.fromJSONSchema(whole).parse(value);
}
