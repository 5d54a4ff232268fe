/**
 * What a tool is. A tool says what it needs, what it does to the world, who must agree, and how to tell afterwards what
 * became of it; the service does the rest. Omissions are the careful choice: effect `once`, always confirmed.
 */
import type * as z from "zod";
import type { Gate } from "../protocol/events.ts";
import type { PreviewRow } from "../protocol/tool-call.ts";
import type { ToolOutcome } from "./outcome.ts";

/** Who acts, from the stored principal; never from arguments, and never more than the run's user may. */
export interface ToolContext {
  readonly tenantId: string;
  readonly userId: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly locale: string | undefined;
  readonly conversationId: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface PreviewOf {
  readonly rows: readonly z.infer<typeof PreviewRow>[];
  /** What must still be so when it runs (for example a row version); digested, and handed to `execute`. */
  readonly expect?: unknown;
  readonly costMicroUsd?: number;
}

export interface Call<Deps> {
  readonly ctx: ToolContext;
  readonly deps: Deps;
  readonly signal: AbortSignal;
}
export interface Execution<Deps> extends Call<Deps> {
  readonly expect: unknown;
  /** The same over attempts, restarts and people's resolutions; not guessable from outside. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Bearer header of the user's own request; only for `credential: "user"`. */
  readonly authHeader: string | null;
}

export type Refusal = { readonly ok: true } | { readonly ok: false; readonly code: string; readonly message: string };
export type Probe<O> = { readonly found: true; readonly outcome: ToolOutcome<O> } | { readonly found: false };

/** What a policy may ask for beyond a plain yes. */
export type Asked = Partial<Pick<Gate, "quorum" | "selfApproval" | "approvers">>;

interface Common<I extends z.ZodType, O extends z.ZodType, Deps> {
  readonly name: string;
  readonly title: { readonly en: string; readonly zh: string };
  readonly description: string;
  readonly input: I;
  readonly output: O;
  /** Without it, nobody is offered the tool by its scope and everybody may call it. */
  readonly scope?: string;
  /** Roles of the sign-in that may decide. */
  readonly approvers?: readonly string[];
  readonly quorum?: number;
  readonly selfApproval?: boolean;
  readonly expiresInMs?: number;
  readonly timeoutMs?: number;
  readonly dedupeWindowMs?: number;
  /** A definitive refusal speaks for the key over all its attempts, not only for the last one. */
  readonly answersForKey?: boolean;
  readonly credential?: "service" | "tenant_secret" | "user";
  /** Of a function: false asks nobody, true asks as the members above say, an object asks for that instead. */
  readonly confirm?: "never" | "always" | ((args: z.infer<I>, ctx: ToolContext) => boolean | Asked);
  /** Raise it when the meaning of the tool or of its policy function changes: what was shown before is then stale. */
  readonly version?: number;
  readonly reversible?: boolean;
  /** How it could be undone, for people. */
  readonly undo?: string;
  readonly normalize?: (args: unknown, ctx: ToolContext) => unknown;
  readonly preview?: (args: z.infer<I>, call: Call<Deps>) => Promise<PreviewOf> | PreviewOf;
  readonly execute: (args: z.infer<I>, call: Execution<Deps>) => Promise<ToolOutcome<z.infer<O>>>;
  readonly display?: (data: z.infer<O>, lang: "en" | "zh") => string;
}
type Authorize<I extends z.ZodType, Deps> = (args: z.infer<I>, call: Call<Deps>) => Promise<Refusal> | Refusal;

export type ToolDefinition<I extends z.ZodType, O extends z.ZodType, Deps> = Common<I, O, Deps> &
  (
    | { readonly effect: "read"; readonly authorize?: Authorize<I, Deps>; readonly probe?: never }
    | { readonly effect?: "once"; readonly authorize: Authorize<I, Deps>; readonly probe?: never }
    | { readonly effect: "idempotent"; readonly authorize: Authorize<I, Deps>; readonly probe?: never }
    | {
        readonly effect: "probeable";
        readonly authorize: Authorize<I, Deps>;
        readonly probe: (idempotencyKey: string, args: z.infer<I>, call: Call<Deps>) => Promise<Probe<z.infer<O>>>;
      }
  );

/** A tool among others: the types of its arguments stay inside it, guarded by its own schemas. */
export type Tool<Deps> = ToolDefinition<z.ZodType, z.ZodType, Deps>;

export function defineTool<I extends z.ZodType, O extends z.ZodType, Deps>(
  definition: ToolDefinition<I, O, Deps>,
): Tool<Deps> {
  // Arguments reach these functions only after `input` has parsed them, so widening to `unknown` is safe.
  return definition as unknown as Tool<Deps>;
}
