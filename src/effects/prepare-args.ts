/** From what the model or a person wrote to what a tool would run with: normalised, validated, plain, bounded. */
import { canonicalJson } from "../protocol/canonical-json.ts";
import { utf8Bytes } from "../protocol/text.ts";
import type { Tool, ToolContext } from "../tools/define-tool.ts";
import { ARGS_BYTES } from "./strict-json.ts";
import { plainJson } from "./tool-plain-json.ts";
import { cleanSentence } from "./tool-scrub.ts";

export type ReadArgs =
  | {
      readonly ok: true;
      readonly args: unknown;
      /** Normalising or the schema made something else of what was written. */
      readonly changed: boolean;
    }
  | { readonly ok: false; readonly detail: string; readonly pointer?: string };

/** Arguments and the model's own beside them, in one event of at most 64 KiB with preview and expectation. */
const BOTH_BYTES = 44 * 1024;
const ISSUES = 5;
const DETAIL_CHARS = 800;

export function readArgs(tool: Tool<unknown>, written: Readonly<Record<string, unknown>>, ctx: ToolContext): ReadArgs {
  let parsed: ReturnType<typeof tool.input.safeParse>;
  try {
    // A copy: a normaliser that changes its argument in place would change what is kept as the model's own.
    const given = structuredClone(written);
    parsed = tool.input.safeParse(tool.normalize ? tool.normalize(given, ctx) : given);
  } catch {
    return { ok: false, detail: "The arguments could not be read." };
  }
  if (!parsed.success) return refusal(parsed.error.issues);
  const plain = plainJson(parsed.data);
  if (!plain.ok) return { ok: false, detail: `The arguments are no plain JSON: ${plain.detail}.` };
  const after = canonicalJson(plain.value);
  const before = canonicalJson(written);
  const bytes = utf8Bytes(after);
  if (bytes > ARGS_BYTES || (before !== after && bytes + utf8Bytes(before) > BOTH_BYTES)) {
    return { ok: false, detail: "The arguments are too long." };
  }
  return { ok: true, args: plain.value, changed: before !== after };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function refusal(issues: readonly Issue[]): ReadArgs {
  const lines = issues.slice(0, ISSUES).map(({ path, message }) => {
    const where = path.map(String).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  const more = issues.length > ISSUES ? [`and ${issues.length - ISSUES} more`] : [];
  const [first] = issues;
  const pointer = first?.path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const detail = cleanSentence([...lines, ...more].join("; "), DETAIL_CHARS);
  return { ok: false, detail, ...(pointer ? { pointer } : {}) };
}
