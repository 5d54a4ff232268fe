/**
 * The body of a request: the agent's prompt and its tools, encoded once per agent, around the transcript, which is
 * spliced in as the text that it is. Nothing of the user reaches the body but what the agent's prompt takes and what
 * was said; a tool outside of the user's scopes is not offered.
 */
import type { Principal } from "../protocol/principal.ts";
import type { Agent } from "../tools/agent-definition.ts";
import type { Tool } from "../tools/define-tool.ts";
import { schemasOf } from "../tools/describe-tool.ts";
import { encodeJson } from "./request-json.ts";
import { systemMessage } from "./request-messages.ts";
import { mayUse } from "./tool-catalogue.ts";

export interface RequestParts {
  readonly agent: Agent;
  readonly model: string;
  readonly principal: Principal;
  /** `Transcript.messages()` */
  readonly messages: string;
}

export interface RequestBody {
  readonly body: string;
  /** What was asked for beside the messages, for the record of the step. */
  readonly parameters: { readonly tools: readonly string[] };
}

export function requestBody({ agent, model, principal, messages }: RequestParts): RequestBody {
  const tools = agent.tools.filter((tool) => mayUse(tool, principal.scopes));
  const { locale } = principal;
  const offered = tools.length === 0 ? "" : `"tools":[${tools.map(encodedTool).join(",")}],`;
  const said = messages === "" ? "" : `,${messages}`;
  const body =
    `{"model":${encodeJson(model)},"stream":true,"stream_options":{"include_usage":true},${offered}` +
    `"messages":[${systemMessage(agent.prompt({ locale }))}${said}]}`;
  return { body, parameters: { tools: tools.map(({ name }) => name) } };
}

const ENCODED = new WeakMap<Tool<unknown>, string>();

function encodedTool(tool: Tool<unknown>): string {
  const known = ENCODED.get(tool);
  if (known !== undefined) return known;
  const { name, description } = tool;
  const parameters = schemasOf(tool).input;
  const encoded = encodeJson({ type: "function", function: { name, description, parameters } });
  ENCODED.set(tool, encoded);
  return encoded;
}
