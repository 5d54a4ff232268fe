/**
 * Reads recorded upstream answers: `NAME.sse` holds the raw bytes, `NAME.json` beside it says how to send them and what
 * a correct decoder makes of them.
 *
 * Every file is held against length and digest in its sidecar. The fixtures hold bare CRs, CRLFs, a byte order mark and
 * cut characters; a checkout that "fixes" line ends would otherwise quietly test something else.
 */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BadRequest } from "./json.ts";

export const STREAM_FIXTURES = fileURLToPath(new URL("../fixtures/streams", import.meta.url).href);

export type End =
  | { readonly mode: "close" }
  | {
      readonly mode: "hold";
      readonly ms: number;
      readonly heartbeat?: { readonly text: string; readonly every_ms: number };
    };

/** What a correct decoder has at the end. */
export type Expectation = {
  readonly outcome: string;
  readonly text?: string;
  readonly text_well_formed?: string;
  readonly text_contains?: readonly string[];
  readonly text_prefix?: string;
  readonly tool_calls: readonly { readonly name: string; readonly args: unknown; readonly raw?: string }[];
  readonly finish_reason: string | null;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
};

type Sidecar = {
  readonly http_status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Byte offsets at which a new write starts. */
  readonly split_at: readonly number[];
  /** Wait before each write; one more than offsets. */
  readonly delays_ms: readonly number[];
  readonly end: End;
  readonly bytes: number;
  readonly sha256: string;
  readonly expect: Expectation;
};

export type StreamFixture = Omit<Sidecar, "bytes"> & { readonly name: string; readonly bytes: Buffer };

export type FixtureLibrary = {
  readonly names: () => string[];
  /** By its full name, or by the part before an underscore when only one fixture begins so: `S08`, `S01a`. */
  readonly get: (name: string) => StreamFixture;
};

/** Folders are searched in order; the first one that has the name wins. */
export function openFixtures(folders: readonly string[] = [STREAM_FIXTURES]): FixtureLibrary {
  const loaded = new Map<string, StreamFixture>();
  const index = (): Map<string, string> => {
    const found = new Map<string, string>();
    for (const folder of folders) {
      for (const file of readdirSync(folder).sort()) {
        const name = file.replace(/\.json$/, "");
        if (name !== file && !found.has(name)) found.set(name, folder);
      }
    }
    return found;
  };
  return {
    names: () => [...index().keys()],
    get(asked) {
      const known = loaded.get(asked);
      if (known !== undefined) return known;
      const fixture = load(resolve(asked.replace(/\.sse$/, ""), index()));
      loaded.set(asked, fixture);
      return fixture;
    },
  };
}

function resolve(asked: string, found: ReadonlyMap<string, string>): { folder: string; name: string } {
  const matches = [...found].filter(([name]) => name === asked || name.startsWith(`${asked}_`));
  const match = matches.find(([name]) => name === asked) ?? (matches.length === 1 ? matches[0] : undefined);
  if (match !== undefined) return { name: match[0], folder: match[1] };
  const names = matches.map(([name]) => name).join(" or ");
  throw new BadRequest(names === "" ? `no fixture "${asked}"` : `fixture "${asked}" could be ${names}`);
}

function load({ folder, name }: { folder: string; name: string }): StreamFixture {
  const sidecar: Sidecar = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const bytes = readFileSync(join(folder, `${name}.sse`));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (bytes.length !== sidecar.bytes || sha256 !== sidecar.sha256) {
    throw new Error(`fixture ${name} differs from its sidecar (were its line ends converted on checkout?)`);
  }
  if (sidecar.delays_ms.length !== sidecar.split_at.length + 1) {
    throw new Error(`fixture ${name} needs one delay more than it has split offsets`);
  }
  return { ...sidecar, name, bytes };
}
