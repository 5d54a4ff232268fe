/**
 * What the load asks the model to do, written into the last user message: `[[n=500 d=5 id=r7 tool=transfer]]`. Numbers
 * are plain, `args` is JSON without spaces.
 */
export interface Script {
  /** Names the run: its times are kept under it. */
  readonly id: string;
  /** Text deltas of the answer. */
  readonly n: number;
  /** Milliseconds between deltas; 0: as fast as the socket takes them. */
  readonly d: number;
  /** Milliseconds before the first delta. */
  readonly ttft: number;
  /** Deltas in one write where `d` is 0. */
  readonly w: number;
  /** Every delta carries the time at which it was written, instead of the first one alone. */
  readonly stampAll: boolean;
  /** Says nothing after the deltas, until the caller hangs up. */
  readonly hang: boolean;
  /** A tool to be called before the answer; "": none. */
  readonly tool: string;
  readonly args: string;
  /** How often the tool is called, one call after the other. */
  readonly calls: number;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
}

export function scriptIn(messages: readonly ChatMessage[]): Script {
  const asked = messages.findLast(({ role }) => role === "user")?.content;
  const [, inside = ""] = /\[\[(.*?)\]\]/.exec(typeof asked === "string" ? asked : JSON.stringify(asked)) ?? [];
  const given = new Map(
    inside.split(/\s+/).map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)]),
  );
  const number = (name: string, otherwise: number) => Number(given.get(name) ?? otherwise);
  return {
    id: given.get("id") ?? "",
    n: number("n", 20),
    d: number("d", 0),
    ttft: number("ttft", 0),
    w: number("w", 32),
    stampAll: number("stamp", 1) === 2,
    hang: number("hang", 0) === 1,
    tool: given.get("tool") ?? "",
    args: given.get("args") ?? "{}",
    calls: number("calls", 1),
  };
}

/** Results of the tools since the user spoke: how far the script has come. */
export const answered = (messages: readonly ChatMessage[]): number =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1).filter(({ role }) => role === "tool")
    .length;
