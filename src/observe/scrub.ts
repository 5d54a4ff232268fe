/**
 * Text on its way to the log: credentials out, one line, bounded. A second line of defence: nothing should hand the log a
 * secret, but errors quote what they choke on, and vendors echo what they were sent. Beyond the forms that everything
 * hides it takes out what might be one: nobody acts on a log line.
 *
 * Every pattern is linear on bounded input; an attacker chooses what an error message says.
 */
import { hideCredentials } from "../protocol/credential-forms.ts";

const MARK = "[redacted]";
/** UTF-16 units looked at, and kept. */
const SEEN = 8_192;
const KEPT = 1_024;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic|digest|negotiate)\s+[^\s"',;]+/gi, `$1 ${MARK}`],
  // A JSON Web Token, or the beginning of one.
  [/eyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,4}/g, MARK],
  // Keys of model vendors and of the places where people keep code.
  [/\b(?:sk|pk|rk|key|xox[a-z]|gh[a-z]|github_pat|glpat|whsec)[-_][A-Za-z0-9_-]{8,}/gi, MARK],
  [/\b(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{12,}/g, MARK],
  [/(\/\/)[^\s/@]{1,512}@/g, `$1${MARK}@`],
  [
    /\b((?:[a-z]+[-_])?(?:token|secret|password|passwd|pwd|api[-_]?key|authorization|cookie|ticket|signature|sig))(["']?\s*[:=]\s*["']?)[^\s"',;&}]+/gi,
    `$1$2${MARK}`,
  ],
  [/[^\s@<>"'(),:;]{1,128}@[a-z0-9-]{1,64}(?:\.[a-z0-9-]{1,64}){1,8}/gi, "[email]"],
  // What is long and random enough to be a secret of no known form. Paths are long too, but have no digits.
  [/[A-Za-z0-9+_=-]{32,}/g, MARK],
  [/(?=[A-Za-z+/_=-]{0,64}[0-9])[A-Za-z0-9+/_=-]{40,}/g, MARK],
];

/** Controls, line separators, bidirectional overrides: JSON leaves many as they are, and terminals obey them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** @param secrets exact values that must never be seen, whatever their form */
export function scrub(text: string, secrets: readonly string[] = []): string {
  // What is cut off in the middle might be a secret too short to be recognised.
  let clean = text.length > SEEN ? text.slice(0, SEEN).replace(/\S{1,8192}$/, "…") : text;
  clean = hideCredentials(clean, secrets, MARK);
  for (const [pattern, mark] of PATTERNS) clean = clean.replace(pattern, mark);
  clean = clean.replace(UNPRINTABLE, escaped);
  return clean.length > KEPT ? `${clean.slice(0, KEPT)}…` : clean;
}
