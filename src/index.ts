export { ConversationObject } from "./conversation-object.ts";

export default {
  fetch(): Response {
    return Response.json(
      { type: "about:blank", title: "Not found", status: 404 },
      { status: 404, headers: { "content-type": "application/problem+json" } },
    );
  },
} satisfies ExportedHandler<Env>;
