/** Events, and the frames of a socket, as JSON Schema: every type of event with its own data. */
import * as z from "zod";
import { ClientFrame } from "../../protocol/commands.ts";
import { EVENT_DATA, EventEnvelope } from "../../protocol/events.ts";
import { CLOSE, ServerFrame } from "../../protocol/frames.ts";
import { SUBPROTOCOL } from "../../protocol/version.ts";
import { Schemas, type JsonSchema } from "./schemas.ts";

export function eventSchemas(): JsonSchema {
  const { type: _, data: __, ...envelope } = EventEnvelope.shape;
  const types = Object.entries(EVENT_DATA).map(
    ([type, data]) => [`Event.${type}`, z.object({ ...envelope, type: z.literal(type), data })] as const,
  );
  const schemas = new Schemas("#/$defs/", {
    input: [ClientFrame],
    output: [ServerFrame, ...types.map(([, schema]) => schema)],
  });
  const events = Object.fromEntries(types.map(([name, schema]) => [name, schemas.of(schema, "output")]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "/v1/events.schema.json",
    title: "Holdpoint events and frames",
    description:
      `Events are the same over REST, server-sent events and the WebSocket (${SUBPROTOCOL}). Who may read a ` +
      "conversation but not its details (viewers) gets each event with fewer members of data.",
    $ref: "#/$defs/Event",
    $defs: {
      ...schemas.named,
      ...events,
      Event: { oneOf: Object.keys(events).map((name) => ({ $ref: `#/$defs/${name}` })) },
      ServerFrame: schemas.of(ServerFrame, "output"),
      ClientFrame: schemas.of(ClientFrame, "input"),
      CloseCode: { enum: Object.values(CLOSE) },
    },
  };
}
