/**
 * A client's JSON, whichever way it comes, and what it must keep to before a schema sees it: depth, number of members,
 * each named once, text that every later encoder takes, numbers that survived the parsing. Walks without recursion, so
 * that depth itself cannot hurt.
 */
import { namesTwice } from "./duplicate-members.ts";
import type { FieldError } from "./problems.ts";
import { LIMITS } from "./limits.ts";

export type ClientJson =
  | { readonly kind: "kept"; readonly value: unknown }
  /** It is JSON, which may hold the id that the answer needs. */
  | { readonly kind: "outside"; readonly value: unknown; readonly error: FieldError }
  | { readonly kind: "malformed" };

export function readClientJson(text: string): ClientJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "malformed" };
  }
  const error = checkJsonBounds(value) ?? (namesTwice(text) ? TWICE : null);
  return error === null ? { kind: "kept", value } : { kind: "outside", value, error };
}

const TWICE: FieldError = { pointer: "", detail: "must name each member once" };

interface Place {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
}

/** The first thing that is wrong, or null. */
function checkJsonBounds(root: unknown): FieldError | null {
  const open: Place[] = [{ value: root, pointer: "", depth: 0 }];
  let members = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, pointer, depth } = place;
    const wrong = checkScalar(value);
    if (wrong !== null) return { pointer, detail: wrong };
    if (typeof value !== "object" || value === null) continue;
    if (depth >= LIMITS.jsonDepth) return { pointer, detail: `must be at most ${LIMITS.jsonDepth} levels deep` };
    for (const [key, member] of Object.entries(value)) {
      members += 1;
      if (members > LIMITS.jsonKeys) return { pointer: "", detail: `must have at most ${LIMITS.jsonKeys} members` };
      // A name that some later merge would take for the prototype.
      if (key === "__proto__") return { pointer, detail: "must not have a member __proto__" };
      if (!key.isWellFormed()) return { pointer, detail: "must have names in well-formed Unicode" };
      open.push({ value: member, pointer: `${pointer}/${pointerToken(key)}`, depth: depth + 1 });
    }
  }
  return null;
}

function checkScalar(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : "must be well-formed Unicode";
  if (typeof value !== "number") return null;
  if (!Number.isFinite(value)) return "must be a number that can be represented";
  // Beyond 2^53 the parser has already changed the digits, and what is approved must be what was written.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? "must be at most 2^53 - 1" : null;
}

/** RFC 6901. */
export const pointerToken = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
