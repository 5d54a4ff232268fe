/** Cloudflare's Agents SDK as its documentation has it: a chat agent with one tool that asks for approval. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AIChatAgent } from "@cloudflare/ai-chat";
import { routeAgentRequest } from "agents";
import { convertToModelMessages, isStepCount, streamText, tool } from "ai";
import * as z from "zod";

export class ChatAgent extends AIChatAgent {
  async onChatMessage(_onFinish, options) {
    const { WORLD_URL } = this.env;
    const provider = createOpenAICompatible({
      name: "bench",
      baseURL: `${WORLD_URL}/v1`,
      apiKey: "none",
      includeUsage: true,
    });
    const transfer = tool({
      description: "Transfers money.",
      inputSchema: z.object({ recipient_id: z.string(), amount_cents: z.number() }),
      needsApproval: true,
      execute: async (args) => {
        const answer = await fetch(`${WORLD_URL}/transfer`, { method: "POST", body: JSON.stringify(args) });
        return answer.json();
      },
    });
    const result = streamText({
      model: provider("fake-1"),
      messages: await convertToModelMessages(this.messages),
      abortSignal: options?.abortSignal,
      tools: { transfer },
      stopWhen: isStepCount(5),
    });
    return result.toUIMessageStreamResponse();
  }
}

export default {
  fetch: async (request, env) => (await routeAgentRequest(request, env)) ?? new Response("not found", { status: 404 }),
};
