/**
 * Folds the chunk objects of one stream (or one whole completion) into an answer.
 *
 * Nothing is dropped in silence: a member that carries content but has a shape we do not know ends the answer with a
 * protocol error, because an answer with a hole must not look complete. Unknown members are ignored.
 *
 * It must not know about bytes or events, and it decides nothing. Invariants: after a failure nothing changes any more;
 * text, reasoning, refusal and calls together stay within the bound; only the choice with index 0 counts.
 */
import type { DecodedAnswer, DecodedFailure, DecodedUsage } from "./decoded-answer.ts";
import { errorObject, inBandFailure } from "./in-band-failure.ts";
import { isJsonObject, label, textOr, type JsonObject } from "./json-shape.ts";
import { higherUsage, readUsage, sameUsage } from "./read-usage.ts";
import { ToolCallAssembly } from "./tool-call-assembly.ts";
import { WellFormedText } from "./well-formed-text.ts";

export type AnswerBounds = { readonly answerChars: number; readonly calls: number };

const LABEL_CHARS = 200;

export class AnswerAccumulator {
  readonly #bounds: AnswerBounds;
  readonly #text = new WellFormedText();
  readonly #reasoning = new WellFormedText();
  readonly #refusal = new WellFormedText();
  readonly #calls = new ToolCallAssembly();
  #chars = 0;
  #finishReason: string | null = null;
  #usage: DecodedUsage | null = null;
  #model: string | null = null;
  #failure: DecodedFailure | null = null;
  #changes = 0;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  get failure(): DecodedFailure | null {
    return this.#failure;
  }

  /** How many pieces of substance came in so far; keep-alives, empty deltas and repetitions do not count. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether any reasoning came so far. */
  get reasoned(): boolean {
    return this.#reasoning.length > 0;
  }

  /** Takes one object; returns the text that it made visible. `named`: its event was called `error`. */
  fold(chunk: JsonObject, named = false): string {
    if (this.#failure !== null) return "";
    if (this.#model === null) this.#model = label(textOr(chunk.model), LABEL_CHARS) || null;
    this.#foldUsage(chunk.usage);
    const failure = inBandFailure(chunk, named);
    if (failure !== null) return this.#fail(failure);
    const choices = chunk.choices ?? [];
    if (!Array.isArray(choices)) return this.#complain("choices is no list");
    let shown = "";
    for (const [position, choice] of choices.entries()) shown += this.#foldChoice(choice, position);
    return shown;
  }

  /** What `fold` does with a chunk that holds nothing but this piece of text. */
  foldText(piece: string): string {
    return this.#failure === null ? this.#append(this.#text, piece) : "";
  }

  protocolError(detail: string): void {
    if (this.#failure === null) this.#complain(detail);
  }

  answer(sawDone: boolean): DecodedAnswer {
    return {
      text: this.#text.toString(),
      reasoning: this.#reasoning.toString(),
      refusal: this.#refusal.toString(),
      toolCalls: this.#calls.calls(),
      finishReason: this.#finishReason,
      usage: this.#usage,
      model: this.#model,
      failure: this.#failure,
      sawDone,
    };
  }

  #foldChoice(choice: unknown, position: number): string {
    if (this.#failure !== null || choice === null) return "";
    if (!isJsonObject(choice)) return this.#complain("a choice is no object");
    if (!isFirst(choice.index ?? position)) return "";
    this.#foldUsage(choice.usage); // Moonshot
    if (isJsonObject(choice.error)) return this.#fail(errorObject(choice.error)); // OpenRouter
    const shown = this.#foldDelta(choice.delta) + this.#foldMessage(choice.message);
    const reason = choice.finish_reason ?? "";
    if (typeof reason !== "string") return shown + this.#complain("finish_reason is no text");
    // DashScope spells "not yet" as a word.
    if (reason !== "" && reason !== "null" && reason !== this.#finishReason) {
      this.#finishReason = label(reason, LABEL_CHARS);
      this.#changes += 1;
    }
    return shown;
  }

  #foldDelta(delta: unknown): string {
    if (delta === undefined || delta === null) return "";
    if (!isJsonObject(delta)) return this.#complain("a delta is no object");
    this.#foldReasoning(delta);
    this.#foldPiece(this.#refusal, delta.refusal, "refusal");
    const shown = this.#foldContent(delta.content);
    this.#foldCalls(delta.tool_calls, false);
    return shown;
  }

  /**
   * A whole message: the answer of a body that is no stream, or what some vendors put into the last chunk. There it
   * repeats what the deltas said, so each part counts only where no delta brought any of it.
   */
  #foldMessage(message: unknown): string {
    if (message === undefined || message === null || this.#failure !== null) return "";
    if (!isJsonObject(message)) return this.#complain("a message is no object");
    if (this.#reasoning.length === 0) this.#foldReasoning(message);
    if (this.#refusal.length === 0) this.#foldPiece(this.#refusal, message.refusal, "refusal");
    const shown = this.#text.length === 0 ? this.#foldContent(message.content) : "";
    if (this.#calls.count === 0) this.#foldCalls(message.tool_calls, true);
    return shown;
  }

  /** A string, or a list of typed parts (Mistral). */
  #foldContent(content: unknown): string {
    if (!Array.isArray(content)) return this.#foldPiece(this.#text, content, "content");
    let shown = "";
    for (const part of content) {
      if (!isJsonObject(part)) return shown + this.#complain("a part of the content is no object");
      if (part.type === "text") shown += this.#foldPiece(this.#text, part.text, "a part of the content");
      else if (part.type === "thinking") this.#foldThinking(part.thinking);
      else return shown + this.#complain("a part of the content is of a type that is not known");
    }
    return shown;
  }

  #foldThinking(thinking: unknown): void {
    for (const part of Array.isArray(thinking) ? thinking : [{ text: thinking }]) {
      if (isJsonObject(part)) this.#append(this.#reasoning, textOr(part.text));
    }
  }

  /** Under either name; where a gateway sends both, they are the same. */
  #foldReasoning(part: JsonObject): void {
    this.#append(this.#reasoning, textOr(part.reasoning_content) || textOr(part.reasoning));
  }

  #foldPiece(target: WellFormedText, value: unknown, what: string): string {
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? this.#append(target, value) : this.#complain(`${what} is no text`);
  }

  #foldCalls(value: unknown, whole: boolean): void {
    const entries = value ?? [];
    if (!Array.isArray(entries)) {
      this.#complain("tool_calls is no list");
      return;
    }
    for (const [position, entry] of entries.entries()) {
      if (this.#failure !== null) return;
      const added = whole ? this.#calls.add(entry, position) : this.#calls.add(entry);
      if (added === undefined) this.#complain("a tool call of a shape that is not known");
      else if (this.#calls.count > this.#bounds.calls) this.#complain(`more than ${this.#bounds.calls} tool calls`);
      else if (added.news) this.#grow(added.chars);
    }
  }

  #foldUsage(value: unknown): void {
    const usage = readUsage(value);
    if (usage === null) return;
    const level = higherUsage(this.#usage, usage);
    if (!sameUsage(this.#usage, level)) this.#changes += 1;
    this.#usage = level;
  }

  #append(target: WellFormedText, piece: string): string {
    if (piece === "" || this.#failure !== null) return "";
    return this.#grow(piece.length) ? target.append(piece) : "";
  }

  #grow(chars: number): boolean {
    this.#changes += 1;
    this.#chars += chars;
    if (this.#chars <= this.#bounds.answerChars) return true;
    this.#complain(`more than ${this.#bounds.answerChars} characters of answer`);
    return false;
  }

  #complain(detail: string): "" {
    return this.#fail({ kind: "protocol_error", detail });
  }

  /** Returns the text that a failure shows: none. */
  #fail(failure: DecodedFailure): "" {
    this.#failure ??= failure;
    return "";
  }
}

function isFirst(index: unknown): boolean {
  return index === 0 || index === "0";
}
