/**
 * What an actor asks of its tenant's objects: whether a sign-in counts, what may begin, whom a key belongs to. Each is a
 * call to another object, so it may be late or fail; none of them decides anything about the conversation.
 */
import type { Command } from "../protocol/commands.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Rejection } from "../protocol/problems.ts";

/** Whether a sign-in still counts, as its tenant says. */
export interface StandingPort {
  /** null: it counts, and the command may be done now. Never rejects: who cannot be asked about is refused. */
  refusal(principal: Principal, command: Command): Promise<Rejection | null>;
}

/** One start that asks to be let in. */
export interface Admission {
  readonly tenantId: string;
  readonly conversationId: string;
  /** Of the request. */
  readonly id: string;
  readonly text: string;
}

/** What the tenant, and the whole service, may still begin. Absent: nothing is limited. */
export interface BudgetPort {
  /** null: it may begin. Never rejects. */
  admit(start: Admission): Promise<Rejection | null>;
  /** It was let in and came to nothing. */
  release(start: Admission): void;
  /** Queued and running runs of the conversation, as they are now. */
  occupied(tenantId: string, conversationId: string, runs: number): void;
}

/** What a key is claimed for: this request, in this conversation. */
export interface Claim {
  readonly key: string;
  readonly digest: string;
  readonly conversationId: string;
  /** Of the actor that claims: its own, and greater than that of every earlier life of the conversation. */
  readonly life: string;
}

/** The tenant's register: a key belongs to one request over all its users and conversations (I6). */
export interface KeyRegistry {
  /** false: the key belongs to another request. Claiming again for the same request is not a second claim of another. */
  claim(tenantId: string, claim: Claim): Promise<boolean>;
  /** Gives back the claim of a command that was refused. */
  release(tenantId: string, claim: Claim): Promise<void>;
}
