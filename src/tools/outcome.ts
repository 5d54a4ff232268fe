/** What a tool may say of a call. Anything else (a throw, an abort, nothing) says that it may have happened. */
export type ToolOutcome<T> =
  | { readonly kind: "ok"; readonly data: T; readonly displayText?: string }
  | {
      readonly kind: "failed";
      readonly error: ToolFailure;
      /** `false`: nothing left the house. `"definitive"`: the other side understood, and refused for good. */
      readonly sent: false | "definitive";
    };

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly layer?: "transport" | "gateway" | "tool";
  readonly http?: { readonly status: number; readonly body?: string };
}

export const ok = <T>(data: T, displayText?: string): ToolOutcome<T> => ({
  kind: "ok",
  data,
  ...(displayText === undefined ? {} : { displayText }),
});
/** Refused before anything was sent. */
export const notSent = (code: string, message: string, more: Partial<ToolFailure> = {}): ToolOutcome<never> => ({
  kind: "failed",
  error: { code, message, retryable: false, ...more },
  sent: false,
});
/** The other side refused for good. */
export const refused = (code: string, message: string, more: Partial<ToolFailure> = {}): ToolOutcome<never> => ({
  kind: "failed",
  error: { code, message, retryable: false, ...more },
  sent: "definitive",
});
/** Thrown where the answer proves nothing (5xx, cut body, no answer): the call may have happened. */
export class AmbiguousOutcome extends Error {
  readonly failure: ToolFailure;
  constructor(failure: ToolFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.name = "AmbiguousOutcome";
    this.failure = failure;
  }
}
