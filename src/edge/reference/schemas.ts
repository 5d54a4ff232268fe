/**
 * The schemas that the service checks with, as JSON Schema 2020-12. Shapes that occur again and again have a name and
 * are referred to. What comes in is shown as strict as it is checked; what goes out is open, because a later release
 * may add members and a client must not fail on them.
 */
import * as z from "zod";
import { AgentDescription } from "../../protocol/agent.ts";
import { Conversation } from "../../protocol/conversation.ts";
import { EventEnvelope } from "../../protocol/events.ts";
import { ConversationSummary, InboxItem } from "../../protocol/history.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Message } from "../../protocol/message.ts";
import { Problem } from "../../protocol/problems.ts";
import { Run, Usage } from "../../protocol/run.ts";
import { Stop } from "../../protocol/stops.ts";
import { PendingCall, SideEffect, ToolCall } from "../../protocol/tool-call.ts";
import { ToolResult } from "../../protocol/tool-result.ts";
import { Limit } from "../query.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

const NAMED = {
  Agent: AgentDescription,
  Conversation,
  ConversationSummary,
  Event: EventEnvelope,
  InboxItem,
  Message,
  PendingCall,
  Problem,
  Run,
  SideEffect,
  Stop,
  ToolCall,
  ToolResult,
  Usage,
};

export interface Wanted {
  readonly input: readonly z.ZodType[];
  readonly output: readonly z.ZodType[];
}

/** JSON Schemas of what is wanted, made in one pass for each direction, and the named shapes that they refer to. */
export class Schemas {
  readonly named: Record<string, JsonSchema> = {};
  readonly #known: Record<"input" | "output", ReadonlyMap<z.ZodType, JsonSchema>>;

  /** @param at where the document keeps the named shapes */
  constructor(at: string, { input, output }: Wanted) {
    const names = z.registry<{ id: string }>();
    for (const [id, schema] of Object.entries(NAMED)) names.add(schema, { id });
    const made = (io: "input" | "output", wanted: readonly z.ZodType[]) => {
      const schemas = [...new Set(wanted)];
      // As members of something: a named shape is then referred to wherever it stands.
      const whole = z.toJSONSchema(z.object(Object.fromEntries(schemas.entries())), {
        metadata: names,
        io,
        unrepresentable: "any",
        override: ({ zodSchema, jsonSchema }) => {
          if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
          if (zodSchema === Limit) Object.assign(jsonSchema, PAGE_LIMIT);
        },
      });
      const { properties, $defs = {} } = JSON.parse(JSON.stringify(whole).replaceAll('"#/$defs/', `"${at}`)) as {
        properties: Record<string, JsonSchema>;
        $defs?: Record<string, JsonSchema>;
      };
      Object.assign(this.named, $defs);
      return new Map(schemas.map((schema, n) => [schema, properties[n] ?? {}]));
    };
    this.#known = { input: made("input", input), output: made("output", output) };
  }

  /** @throws RangeError for one that was not wanted */
  of(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const known = this.#known[io].get(schema);
    if (!known) throw new RangeError("this schema was not asked for");
    return known;
  }
}

/** Text in a URL, a number to whoever writes it. */
const PAGE_LIMIT = {
  type: "integer",
  pattern: undefined,
  minimum: 1,
  maximum: LIMITS.pageMax,
  default: LIMITS.page,
} as const;
