/**
 * In which language a client is answered: the one that it asks for, else the sign-in's, else English. A courtesy, so
 * nothing here refuses: what cannot be read asks for nothing.
 */
import { langOf, type Lang } from "../protocol/texts.ts";

/** null: it asks for neither of ours. @param header `Accept-Language` */
export function acceptedLang(header: string | null): Lang | null {
  let best: { readonly lang: Lang; readonly q: number } | null = null;
  for (const item of (header ?? "").split(",")) {
    const [range = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const lang = OURS.get(range.split("-", 1)[0] ?? "");
    const q = weightOf(parameters);
    if (lang !== undefined && q > (best?.q ?? 0)) best = { lang, q };
  }
  return best?.lang ?? null;
}

const OURS: ReadonlyMap<string, Lang> = new Map([
  ["en", "en"],
  ["zh", "zh"],
]);

function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  if (given === undefined) return 1;
  const q = Number(given.slice(2));
  return q >= 0 && q <= 1 ? q : 0;
}

export const langFor = ({ headers }: Pick<Request, "headers">, locale: string | undefined): Lang =>
  acceptedLang(headers.get("accept-language")) ?? langOf(locale);
