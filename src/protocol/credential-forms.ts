/**
 * What credentials look like, for everything that may quote one: results and errors of tools, events, the log. One list,
 * careful enough for data that must otherwise stay as it is; the log, which nobody acts on, hides more besides.
 *
 * Every pattern is linear on bounded input: an attacker chooses what is looked at.
 */
const FORMS: readonly (readonly [RegExp, before: string])[] = [
  [/\b(bearer|basic|token)\s+(?=\S*\d)[\w.~+/=-]{8,}/gi, "$1 "],
  // A JSON Web Token.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, ""],
  // Keys of model vendors and of the places where people keep code.
  [/\b(?:sk|pk|rk|ghp|gho|xox[abpr])[-_][\w-]{8,}/g, ""],
  [
    /((?:api[-_]?key|password|passwd|secret|access[-_]?token|refresh[-_]?token|authorization)["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi,
    "$1",
  ],
];
const USERINFO = /(:\/\/)[^\s/:@]+:[^\s/@]+@/g;

/** Too short to be a secret: taking every such text out would only garble what is left. */
const SHORTEST = 4;

/** @param known exact texts that are secrets, whatever they look like */
export function hideCredentials(text: string, known: readonly string[], mark: string): string {
  let clean = text;
  for (const secret of known) if (secret.length >= SHORTEST) clean = clean.replaceAll(secret, mark);
  for (const [form, before] of FORMS) clean = clean.replace(form, before + mark);
  return clean.replace(USERINFO, `$1${mark}@`);
}
