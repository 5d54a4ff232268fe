/**
 * What a tool returned, as plain JSON data or not at all. Tools return anything: cycles, BigInts, errors, getters that
 * throw. Here it is copied once, member by member; after that it is data, and nothing of the tool's runs again.
 */
export type Plain = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly detail: string };

const MAX_DEPTH = 64;
const MAX_VALUES = 200_000;

class NotPlain extends Error {}

/** Lone surrogates become U+FFFD; members that are undefined are left out, as JSON does. Never throws. */
export function plainJson(value: unknown): Plain {
  const seen = { values: 0, path: new Set<object>() };
  try {
    return { ok: true, value: copy(value, seen, 0) };
  } catch (error) {
    return { ok: false, detail: error instanceof NotPlain ? error.message : "it could not be read" };
  }
}

function copy(value: unknown, seen: { values: number; readonly path: Set<object> }, depth: number): unknown {
  if (++seen.values > MAX_VALUES) throw new NotPlain("it has too many values");
  if (depth > MAX_DEPTH) throw new NotPlain("it is nested too deeply");
  switch (typeof value) {
    case "string":
      return value.toWellFormed();
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotPlain("it holds a number that JSON does not have");
      return value === 0 ? 0 : value;
    case "object":
      break;
    default:
      throw new NotPlain(`it holds a value of type ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value) && value.length > MAX_VALUES) throw new NotPlain("it has too many values");
  if (seen.path.has(value)) throw new NotPlain("it contains itself");
  seen.path.add(value);
  const copied = Array.isArray(value)
    ? Array.from({ length: value.length }, (_, at) => copy(value[at], seen, depth + 1))
    : members(value, seen, depth);
  seen.path.delete(value);
  return copied;
}

function members(value: object, seen: { values: number; readonly path: Set<object> }, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new NotPlain("it holds an object that is not plain");
  const copied: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) copied.push([name.toWellFormed(), copy(member, seen, depth + 1)]);
  }
  // `fromEntries` defines members and sets none, so `__proto__` stays data.
  return Object.fromEntries(copied);
}
