/** One request to the service: JSON in, JSON out, problems as errors that say whether trying again may help. */
import type { Problem } from "../protocol/problems.ts";

export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

export interface Connection {
  /** For example `http://127.0.0.1:8787`; without a slash at the end. */
  readonly baseUrl: string;
  /** Asked before every request and every connection, so that a fresh token can be given. */
  readonly token: () => string | Promise<string>;
  readonly fetch?: typeof fetch;
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** @throws ProblemError for every refusal; TypeError where there was no answer at all */
export async function ask<T>(connection: Connection, path: string, asked: Asked = {}): Promise<T> {
  const { method = asked.body === undefined ? "GET" : "POST", body, idempotencyKey, signal } = asked;
  const response = await (connection.fetch ?? fetch)(connection.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${await connection.token()}`,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  const answer: unknown = text === "" ? null : parse(text, response.status);
  if (response.ok) return answer as T;
  throw new ProblemError(isProblem(answer) ? answer : unexplained(response.status));
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return unexplained(status);
  }
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "code" in value && "requestId" in value;

/** An answer that is none of ours: a proxy in between, or a service that was just going down. */
const unexplained = (status: number): Problem => ({
  type: "/problems/internal",
  title: "No explanation",
  status,
  detail: `The answer (${status}) was not one of the service's.`,
  code: "internal",
  requestId: "",
  retryable: status >= 500,
});
