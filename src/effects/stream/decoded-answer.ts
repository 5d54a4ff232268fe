/** What the decoder says about one model answer. It reports what was sent; it neither judges nor repairs. */

export type DecodedToolCall = {
  /** The provider's own id, for information only: it may be missing, repeated or reused. Never a key. */
  readonly providerId: string | null;
  readonly name: string;
  /** The argument text exactly as it was sent: it may be empty, cut or no JSON at all. */
  readonly arguments: string;
};

/** Cumulative figures of the whole answer, in tokens. */
export type DecodedUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
};

export type DecodedFailure =
  /** What was sent is no chat completion, or exceeds a bound. `detail` is a sentence of ours. */
  | { readonly kind: "protocol_error"; readonly detail: string }
  /** An `error` object, or what vendors send in its place. */
  | {
      readonly kind: "error_object";
      readonly code: string | number | null;
      readonly type: string | null;
      readonly message: string;
    }
  /** MiniMax's `base_resp`, whose numbers are a code space of their own and never HTTP statuses. */
  | { readonly kind: "vendor"; readonly code: number; readonly message: string };

/** All strings are well-formed Unicode: a lone surrogate has become U+FFFD. NUL is kept. */
export type DecodedAnswer = {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly DecodedToolCall[];
  readonly finishReason: string | null;
  readonly usage: DecodedUsage | null;
  readonly model: string | null;
  readonly failure: DecodedFailure | null;
  readonly sawDone: boolean;
};
