/** A request under an idempotency key (null: without one), and its answer byte for byte. */
import type { Person } from "./people.ts";
import type { Talk } from "./talk.ts";

export interface Given {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly location: string | null;
}

export async function send(person: Person, path: string, key: string | null, body: unknown): Promise<Given> {
  const response = await person.call("POST", path, { body, headers: key === null ? {} : { "idempotency-key": key } });
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get("idempotency-replayed") === "true",
    location: response.headers.get("location"),
  };
}

export const startPath = (talk: Pick<Talk, "id">): string => `/v1/conversations/${talk.id}/runs`;

export const starting = (talk: Talk, key: string, text = "go on", more: object = {}): Promise<Given> =>
  send(talk.person, startPath(talk), key, { input: { text }, ...more });

/** The problem's code, or "done". */
export const codeIn = ({ status, text }: Given): string =>
  status < 400 ? "done" : (JSON.parse(text) as { code: string }).code;

/** What a first answer and its repeats have in common: all but the mark. */
export const unmarked = ({ status, text, location }: Given): Omit<Given, "replayed"> => ({ status, text, location });

export const newKey = (): string => crypto.randomUUID();
