/** A graph as LangGraph's documentation has it: the model, and one tool that interrupts before it acts. */
import { tool } from "@langchain/core/tools";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import * as z from "zod";

const { WORLD_URL } = process.env;

const transfer = tool(
  async (args) => {
    const answer = interrupt({ tool: "transfer", args });
    if (!answer?.ok) return "rejected";
    const response = await fetch(`${WORLD_URL}/transfer`, { method: "POST", body: JSON.stringify(args) });
    return response.text();
  },
  {
    name: "transfer",
    description: "Transfers money.",
    schema: z.object({ recipient_id: z.string(), amount_cents: z.number() }),
  },
);

const model = new ChatOpenAI({
  model: "fake-1",
  apiKey: "none",
  configuration: { baseURL: `${WORLD_URL}/v1` },
  streaming: true,
  streamUsage: true,
  maxRetries: 0,
}).bindTools([transfer]);

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
  .addNode("tools", new ToolNode([transfer]))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", ({ messages }) => (messages.at(-1)?.tool_calls?.length ? "tools" : END))
  .addEdge("tools", "agent")
  .compile();
