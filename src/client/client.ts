/**
 * The service as an object: a method for each thing that a person does. Without run-time dependencies.
 *
 * Commands that start something take an idempotency key; one is made where none is given, and kept over the retries of
 * that one call, so that a lost answer never becomes a second run.
 */
import type { Conversation } from "../protocol/conversation.ts";
import type { Event } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import type { Page } from "../protocol/rpc.ts";
import type { Run } from "../protocol/run.ts";
import { ask, ProblemError, type Asked, type Connection } from "./http.ts";

export interface ResumeBody {
  readonly decisions?: readonly {
    readonly toolCallId: string;
    readonly argsDigest: string;
    readonly decision: "approve" | "edit" | "reject";
    readonly args?: Record<string, unknown>;
    readonly reason?: string;
  }[];
  readonly resolutions?: readonly {
    readonly toolCallId: string;
    readonly outcome: "happened" | "did_not_happen" | "give_up";
    readonly argsDigest?: string;
    readonly attempt?: number;
    readonly result?: unknown;
  }[];
  readonly continuations?: readonly { readonly limit: string; readonly decision: "continue" | "stop" }[];
}

export interface StartBody {
  readonly text: string;
  readonly whenBusy?: "enqueue" | "reject" | "replace";
  readonly limits?: Record<string, number>;
  readonly metadata?: Record<string, string>;
}

const RETRIES = 4;

export class HoldpointClient {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  createConversation(body: {
    agent: string;
    title?: string;
    metadata?: Record<string, string>;
  }): Promise<Conversation> {
    return this.#safely("/v1/conversations", { body, idempotencyKey: crypto.randomUUID() });
  }

  conversation(id: string): Promise<Conversation> {
    return this.#safely(`/v1/conversations/${id}`);
  }

  conversations(query: { limit?: number; cursor?: string; q?: string; agent?: string } = {}): Promise<Page<unknown>> {
    return this.#safely(`/v1/conversations${search(query)}`);
  }

  messages(id: string, query: { limit?: number; cursor?: string; order?: string } = {}): Promise<Page<Message>> {
    return this.#safely(`/v1/conversations/${id}/messages${search(query)}`);
  }

  events(id: string, query: { after?: string; limit?: number } = {}): Promise<Page<Event>> {
    return this.#safely(`/v1/conversations/${id}/events${search(query)}`);
  }

  startRun(id: string, { text, ...more }: StartBody, idempotencyKey = crypto.randomUUID() as string): Promise<Run> {
    return this.#safely(`/v1/conversations/${id}/runs`, { body: { input: { text }, ...more }, idempotencyKey });
  }

  runs(id: string, query: { limit?: number; cursor?: string } = {}): Promise<Page<Run>> {
    return this.#safely(`/v1/conversations/${id}/runs${search(query)}`);
  }

  run(id: string): Promise<Run> {
    return this.#safely(`/v1/runs/${id}`);
  }

  resume(runId: string, body: ResumeBody, idempotencyKey = crypto.randomUUID() as string): Promise<Run> {
    return this.#safely(`/v1/runs/${runId}/resume`, { body, idempotencyKey });
  }

  cancel(runId: string, reason?: string, idempotencyKey = crypto.randomUUID() as string): Promise<Run> {
    const body = reason === undefined ? {} : { reason };
    return this.#safely(`/v1/runs/${runId}/cancel`, { body, idempotencyKey });
  }

  retry(runId: string, idempotencyKey = crypto.randomUUID() as string): Promise<Run> {
    return this.#safely(`/v1/runs/${runId}/retry`, { body: {}, idempotencyKey });
  }

  confirmations(query: { limit?: number; cursor?: string } = {}): Promise<Page<unknown>> {
    return this.#safely(`/v1/confirmations${search(query)}`);
  }

  me(): Promise<unknown> {
    return this.#safely("/v1/me");
  }

  /** Reads, and keyed commands, may be sent again: nothing happens twice. Only what may pass is tried again. */
  async #safely<T>(path: string, asked: Asked = {}): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask<T>(this.connection, path, asked);
      } catch (error) {
        const passing = error instanceof ProblemError ? error.problem.status >= 502 : error instanceof TypeError;
        if (!passing || attempt > RETRIES || asked.signal?.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 250 * 2 ** attempt));
      }
    }
  }
}

function search(query: Record<string, string | number | undefined>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
