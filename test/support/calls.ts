/** Requests and readings that the tests of the fake servers share. */

export function postJson(url: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const init = { method: "POST", body: bytes, headers: { "content-type": "application/json", ...headers } };
  return fetch(url, signal === undefined ? init : { ...init, signal });
}

export function user(content: string) {
  return { role: "user", content };
}

export function chatBody(model: string, messages: unknown = [user("hi")], more: object = {}) {
  return { model, stream: true, messages, ...more };
}

export type Chunk = {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments: string } }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number; readonly completion_tokens: number };
};

/** The events of a well-formed stream that ends with `[DONE]`. */
export function readSse(text: string) {
  const events = text.split("\n\n").filter(Boolean);
  if (events.pop() !== "data: [DONE]") throw new Error(`the stream does not end with [DONE]: ${text.slice(-200)}`);
  const chunks = events.map((event): Chunk => JSON.parse(event.replace(/^data: /, "")));
  const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  return { chunks, content, usage: chunks.findLast((chunk) => chunk.usage)?.usage };
}
