/**
 * The conversation as the model is told it: chat messages, encoded once and only ever appended to, until a model refuses
 * a request as too long.
 *
 * It is a fold of the event types in `actor/transcript-events.ts`, so that a cold start and a long life give the same
 * text. It must not decide or reorder what was said. What it guarantees, after any history:
 * - every call of an assistant message is answered directly after it, once, in call order: results wait until the step
 *   has closed, and a call that nothing was heard of is then told as cancelled or unknown;
 * - what is resolved or arrives after that adds nothing;
 * - a request never ends in an assistant message, which some providers refuse and others continue.
 */
import type { Transcript } from "../actor/ports.ts";
import type { Event, EventOf } from "../protocol/events.ts";
import { modelCallIdOf } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import { langOf, type Lang } from "../protocol/texts.ts";
import type { ToolResult } from "../protocol/tool-result.ts";
import { argumentsText } from "./request-json.ts";
import { assistantMessage, functionName, messageText, toolMessage, userMessage } from "./request-messages.ts";
import { resultContent, untoldContent } from "./request-result.ts";
import { shortened } from "./shorten-transcript.ts";

type Payloads = (digest: string) => string | null;

interface OpenStep {
  text: string;
  readonly calls: OpenCall[];
}
interface OpenCall {
  readonly toolCallId: string;
  readonly id: string;
  readonly name: string;
  /** What the model wrote, which is what it is shown again; and what was agreed on since. */
  readonly written: string;
  args: string;
  content: string | null;
  unknown: boolean;
}

/** After an operator the model is asked to go on; the user's words are last then, or this sentence. */
const HANDED_BACK = "(A person of the service answered above and has handed the conversation back to you. Go on.)";

export class ModelTranscript implements Transcript {
  #json = "";
  #endsInAssistant = false;
  /** Where in it users begin to speak; of the last turn, the calls, and what operators have said in it. */
  #turns: number[] = [];
  #calls: { readonly name: string; readonly became: string }[] = [];
  #said: string[] = [];
  #open: OpenStep | null = null;
  /** Said by an operator while calls were open. */
  #deferred: string[] = [];
  /** Assistant texts after the last committed step: a retry goes on without them. */
  #trailing: string[] = [];
  readonly #runs = new Map<string, { readonly lang: Lang; readonly continues: boolean }>();

  messages(): string {
    return this.#json;
  }

  leavesOut(): number {
    return this.#shortened().leftOut;
  }

  append(event: Event, payload: Payloads): void {
    switch (event.type) {
      case "run.queued":
        if (event.runId === undefined) return;
        this.#runs.set(event.runId, { lang: langOf(event.data.principal.locale), continues: event.data.continues });
        return;
      case "run.started":
        if (this.#run(event)?.continues) this.#trailing = [];
        return;
      case "message.created":
        return this.#heard(event.data.message, payload);
      case "message.completed":
        return this.#answered(event, payload);
      case "step.started":
        this.#close();
        this.#keepTrailing();
        if (this.#endsInAssistant) this.#push(userMessage(HANDED_BACK));
        return;
      case "tool_call.proposed":
      case "tool_call.refused":
        return this.#proposed(event, payload);
      case "confirmation.requested":
      case "confirmation.decided":
      case "confirmation.expired":
      case "tool_call.finished":
      case "tool_call.became_unknown":
      case "tool_call.resolved":
        return this.#onCall(event, payload);
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
        return this.#ended(event);
      default:
        return;
    }
  }

  /**
   * An operator speaks as the assistant: for the user it is the service that answered, and what was promised binds.
   * Unmarked, because a mark in the user's role could be forged by a user, and one in the assistant's is imitated.
   */
  #heard(message: Message, payload: Payloads): void {
    const text = messageText(message, "en", payload);
    if (message.role !== "user") {
      this.#deferred.push(assistantMessage(text));
      if (!this.#open) this.#close();
      return;
    }
    this.#close();
    this.#keepTrailing();
    this.#turns.push(this.#json === "" ? 0 : this.#json.length + 1);
    this.#calls = [];
    this.#said = [];
    this.#push(userMessage(text));
  }

  #answered(event: EventOf<"message.completed">, payload: Payloads): void {
    this.#close();
    const text = messageText(event.data.message, this.#run(event)?.lang ?? "en", payload);
    if (event.data.step !== undefined) this.#open = { text, calls: [] };
    else if (text !== "") this.#trailing.push(assistantMessage(text));
  }

  #proposed(event: EventOf<"tool_call.proposed"> | EventOf<"tool_call.refused">, payload: Payloads): void {
    const { toolCallId, tool } = event.data;
    this.#open ??= { text: "", calls: [] };
    if (this.#open.calls.some((call) => call.toolCallId === toolCallId)) return;
    const refused = event.type === "tool_call.refused";
    const written = argumentsText(refused ? event.data.modelArgs : (event.data.modelArgs ?? event.data.args));
    this.#open.calls.push({
      toolCallId,
      id: modelCallIdOf(toolCallId),
      name: functionName(tool),
      written,
      args: refused ? written : argumentsText(event.data.args),
      content: refused ? resultContent(whole(event.data.payload, payload)) : null,
      unknown: false,
    });
  }

  #onCall(event: Extract<Event, { data: { toolCallId: string } }>, payload: Payloads): void {
    const call = this.#open?.calls.find(({ toolCallId }) => toolCallId === event.data.toolCallId);
    if (!call) return;
    switch (event.type) {
      case "confirmation.requested":
        call.args = argumentsText(event.data.args);
        return;
      case "confirmation.decided":
        if (event.data.args !== undefined) call.args = argumentsText(event.data.args);
        if (event.data.payload) call.content = resultContent(whole(event.data.payload, payload));
        return;
      case "confirmation.expired":
        call.content = resultContent(whole(event.data.payload, payload));
        return;
      case "tool_call.became_unknown":
        call.unknown = true;
        return;
      case "tool_call.finished":
        call.content = resultContent(whole(event.data.payload, payload), ran(call, event.data.attempt));
        return;
      case "tool_call.resolved":
        call.unknown = event.data.state === "unknown";
        if (event.data.payload) call.content = resultContent(whole(event.data.payload, payload), ran(call, 1));
        return;
      default:
        return;
    }
  }

  #ended(event: Event): void {
    this.#close();
    if (event.type === "run.completed") this.#keepTrailing();
    if (event.type === "run.failed" && event.data.stop.code === "context_too_long") this.#shorten();
    if (event.runId !== undefined) this.#runs.delete(event.runId);
  }

  #shorten(): void {
    const { json, turns } = this.#shortened();
    this.#json = json;
    this.#turns = [...turns];
    this.#trailing = [];
  }

  #shortened() {
    return shortened({ json: this.#json, turns: this.#turns }, { calls: this.#calls, said: this.#said });
  }

  /** The step is over: its message and the results go in, then what was said meanwhile. */
  #close(): void {
    const step = this.#open;
    this.#open = null;
    if (step && step.calls.length > 0) {
      this.#keepTrailing();
      const calls = step.calls.map(({ id, name, written }) => ({ id, name, args: written }));
      this.#push(assistantMessage(step.text, calls), true);
      for (const { id, name, content, unknown } of step.calls) {
        this.#calls.push({ name, became: becameOf(content, unknown) });
        this.#push(toolMessage(id, content ?? untoldContent(unknown ? "outcome_unknown" : "cancelled")));
      }
    } else if (step && step.text !== "") this.#trailing.push(assistantMessage(step.text));
    if (this.#deferred.length === 0) return;
    this.#keepTrailing();
    this.#said.push(...this.#deferred);
    for (const message of this.#deferred.splice(0)) this.#push(message, true);
  }

  #keepTrailing(): void {
    for (const message of this.#trailing.splice(0)) this.#push(message, true);
  }

  #push(message: string, assistant = false): void {
    this.#json += this.#json === "" ? message : `,${message}`;
    this.#endsInAssistant = assistant;
  }

  #run(event: Event) {
    return event.runId === undefined ? undefined : this.#runs.get(event.runId);
  }
}

function becameOf(content: string | null, unknown: boolean): string {
  if (unknown) return "outcome unknown";
  if (content === null) return "cancelled";
  return content.startsWith('{"success":true') ? "done" : "failed";
}

/** The arguments that ran, where they are not the ones that the model wrote; nothing ran in attempt 0. */
const ran = (call: OpenCall, attempt: number): string | undefined =>
  attempt > 0 && call.args !== call.written ? call.args : undefined;

/** The result with the whole of its data where the event holds an excerpt. */
function whole(result: ToolResult, payload: Payloads): ToolResult {
  const body = result.excerptOf && payload(result.excerptOf.digest);
  if (typeof body !== "string") return result;
  try {
    return { ...result, data: JSON.parse(body) };
  } catch {
    return { ...result, data: body };
  }
}
