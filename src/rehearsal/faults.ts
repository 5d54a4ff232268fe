/**
 * Faults on demand, for development: `[[fault:cut]]` in the user's text spoils the first answer of the turn,
 * `[[fault:cut@1]]` the answer after the first round of tool results. A retry sees the same text and fails the same way.
 */
export const FAULTS = [
  "429",
  "500",
  "cut",
  "silent",
  "empty",
  "error",
  "truncated_args",
  "length",
  "filter",
  "no_usage",
] as const;
export type Fault = (typeof FAULTS)[number];

const DIRECTIVE = /\[\[fault:([a-z0-9_]+)(?:@([0-9]))?\]\]/;

/** The words without the directive, and the fault where it is this answer's turn. */
export function readFault(said: string, round: number): { readonly said: string; readonly fault: Fault | null } {
  const found = DIRECTIVE.exec(said);
  if (!found) return { said, fault: null };
  const fault = FAULTS.find((name) => name === found[1]) ?? null;
  const rest = said.replace(DIRECTIVE, "").trim();
  return { said: rest, fault: Number(found[2] ?? 0) === round ? fault : null };
}
