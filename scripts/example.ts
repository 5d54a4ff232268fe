/** The README's example of the client: a program that starts a run, shows what it proposes, and says yes. */
import { HoldpointClient } from "../src/client/client.ts";
import { Watch } from "../src/client/watch.ts";

const baseUrl = process.env["HOLDPOINT_URL"] ?? "http://127.0.0.1:8787";
const signIn = await fetch(`${baseUrl}/dev/token`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ userId: "alice" }),
});
const { token } = (await signIn.json()) as { token: string };

const client = new HoldpointClient({ baseUrl, token: () => token });
const conversation = await client.createConversation({ agent: "planner" });

// A WebSocket that comes back by itself and misses nothing; `after` says from where.
const watch = new Watch(client.connection, conversation.id, {
  after: conversation.headCursor,
  onEvent: (event) => {
    console.log(event.seq, event.type);
    if (event.type === "run.interrupted" && event.runId) void approve(event.runId);
    if (event.type === "run.completed") watch.stop();
  },
});

async function approve(runId: string): Promise<void> {
  const { pending } = await client.run(runId);
  const decisions = pending.map(({ id, tool, args, argsDigest }) => {
    // Ask a person here. The digest binds the yes to exactly these arguments.
    console.log("approving", tool, args);
    return { toolCallId: id, argsDigest, decision: "approve" as const };
  });
  await client.resume(runId, { decisions });
}

// An idempotency key is made for the call, and kept when the request has to be sent again.
await client.startRun(conversation.id, { text: "Please create a plan to learn the cello" });
