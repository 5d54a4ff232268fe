/**
 * Puts the fragments of tool calls together, in the dialects that servers speak: with and without `index`, ids
 * repeated, changing, doubled or absent, names repeated, late or divided, fragments of several calls interleaved.
 *
 * Rules. `index` is the identity where it is sent, then the id, then "the call that was spoken of last". `id` and
 * `name` are atomic: repeating them adds nothing, an empty one is none. A complete argument text cannot go on, so a
 * fragment that names a tool and brings more starts another call. Where the dialects contradict each other, the reading
 * is taken that can at worst make a call invalid (it is refused and the model is told), never one that invents an effect.
 */
import type { DecodedToolCall } from "./decoded-answer.ts";
import { isJsonObject, label, textOr, type JsonObject } from "./json-shape.ts";
import { ObjectEnd } from "./object-end.ts";
import { WellFormedText } from "./well-formed-text.ts";

const ID_CHARS = 200;

type Call = {
  index: number | null;
  id: string;
  name: string;
  readonly args: WellFormedText;
  readonly argsEnd: ObjectEnd;
};
type Fragment = { index: number | null; id: string; name: string; args: string };

/** `chars` of name and arguments were added; `news` says that this, or anything else, was not known before. */
export type Added = { readonly chars: number; readonly news: boolean };

export class ToolCallAssembly {
  #calls: Call[] = [];
  #last: Call | undefined;

  get count(): number {
    return this.#calls.length;
  }

  /**
   * @param position of the entry in a message that came whole; there it is the index, whatever else is sent
   * @returns undefined where the entry has a shape that is not known
   */
  add(entry: unknown, position?: number): Added | undefined {
    const fragment = readFragment(entry);
    if (fragment === undefined) return undefined;
    if (position !== undefined) fragment.index = position;

    const call = this.#callOf(fragment);
    this.#last = call;
    if (isResent(call, fragment)) return { chars: 0, news: false };
    call.index ??= fragment.index;
    const newId = call.id === "" && fragment.id !== "";
    if (newId) call.id = fragment.id;
    // A name that differs is the rest of a divided one. If it was another name, the sum names no tool: refused, not run.
    const newName = fragment.name === call.name ? "" : fragment.name;
    call.name += newName;
    call.args.append(fragment.args);
    call.argsEnd.feed(fragment.args);
    const chars = newName.length + fragment.args.length;
    return { chars, news: newId || chars > 0 };
  }

  /** By index where all calls have one, else in the order of their first fragments. Fragments that said nothing are gone. */
  calls(): DecodedToolCall[] {
    const spoken = this.#calls.filter((call) => call.id !== "" || call.name !== "" || call.args.length > 0);
    const indexed = spoken.every((call) => call.index !== null);
    const ordered = indexed ? spoken.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : spoken;
    return ordered.map((call) => ({
      providerId: call.id === "" ? null : call.id,
      name: call.name.toWellFormed(),
      arguments: call.args.toString(),
    }));
  }

  #callOf(fragment: Fragment): Call {
    const found = this.#find(fragment);
    if (found !== undefined && !startsAnother(found, fragment)) return found;
    const call: Call = {
      index: fragment.index,
      id: "",
      name: "",
      args: new WellFormedText(),
      argsEnd: new ObjectEnd(),
    };
    this.#calls.push(call);
    return call;
  }

  #find({ index, id, name }: Fragment): Call | undefined {
    if (id !== "") {
      const known = this.#calls.findLast(
        (call) => call.id === id && (index === null || call.index === null || call.index === index),
      );
      if (known !== undefined) return known;
    }
    if (index !== null) {
      const known = this.#calls.findLast((call) => call.index === index);
      if (known !== undefined) return known;
    }
    const last = this.#last;
    if (last === undefined) return undefined;
    // An index or id that only now appears belongs to the last call if that call still lacks one and is not named again.
    const lacksIndex = index === null || last.index === null;
    const lacksId = id === "" || last.id === "";
    return lacksIndex && lacksId && (name === "" || last.name === "" || last.name === name) ? last : undefined;
  }
}

/** Whether the fragment cannot belong to the call that its index, its id or its place points to. */
function startsAnother(call: Call, fragment: Fragment): boolean {
  if (fragment.name === "" || isResent(call, fragment)) return false;
  const sameId = fragment.id === call.id || fragment.id === "" || call.id === "";
  const sameIndex = fragment.index !== null && fragment.index === call.index;
  if (sameIndex && sameId) return false;
  // Gemini's compatible endpoint sends parallel calls all with index 0; older vLLM made a new id for each fragment.
  if (!sameId && call.args.length === 0) return fragment.name !== call.name;
  return fragment.args !== "" && call.argsEnd.reached;
}

/** The same call once more, whole: some servers repeat it at the end. Joined, it would be no JSON. */
function isResent(call: Call, { id, name, args }: Fragment): boolean {
  if (id === "" || id !== call.id || name !== call.name) return false;
  return call.argsEnd.reached && args.length === call.args.length && args === call.args.toString();
}

function readFragment(entry: unknown): Fragment | undefined {
  if (!isJsonObject(entry)) return undefined;
  const called: unknown = entry.function ?? {};
  if (!isJsonObject(called)) return undefined;
  const args = argumentsOf(called);
  if (args === undefined) return undefined;
  return { index: indexOf(entry.index), id: idOf(entry.id), name: textOr(called.name), args };
}

/** Ollama sends an object where the text of one is due; anything else is not understood rather than guessed. */
function argumentsOf(called: JsonObject): string | undefined {
  const value = called.arguments ?? "";
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return undefined;
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // Nested deeper than the stack, which parsing is not bound to.
  }
}

function idOf(value: unknown): string {
  return typeof value === "number" ? String(value) : label(textOr(value), ID_CHARS);
}

function indexOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
