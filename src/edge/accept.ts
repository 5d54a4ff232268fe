/** Which of the media types that a route offers a client takes. Only a client that says that it takes none is refused. */
export type MediaType = "application/json" | "text/event-stream" | "text/html";

interface Range {
  readonly name: string;
  readonly q: number;
}

/**
 * @param offered the first is what a client gets that does not care
 * @returns null: the client takes none of them
 */
export function chooseType(accept: string | null, offered: readonly MediaType[]): MediaType | null {
  const [usual] = offered;
  if (accept === null || accept.trim() === "") return usual ?? null;
  const ranges = accept.split(",").map(rangeOf);
  let best: { readonly type: MediaType; readonly q: number; readonly exactness: number } | null = null;
  for (const type of offered) {
    const { q, exactness } = bestRange(ranges, type);
    if (q === 0) continue;
    // Named as exactly as the usual one, it was named on purpose: nobody sends `text/event-stream` by habit.
    const better = best === null || q > best.q || (q === best.q && exactness === EXACT);
    if (better) best = { type, q, exactness };
  }
  return best?.type ?? null;
}

const EXACT = 2;

/** Of the ranges that contain the type, the most exact one counts, whatever its weight. */
function bestRange(ranges: readonly Range[], type: MediaType): { readonly q: number; readonly exactness: number } {
  const [group = ""] = type.split("/");
  const names = ["*/*", `${group}/*`, type];
  // A problem is JSON: who takes the one can take the other.
  if (type === "application/json") names.push("application/problem+json");
  let found = { q: 0, exactness: -1 };
  for (const { name, q } of ranges) {
    const exactness = Math.min(names.indexOf(name), EXACT);
    if (exactness > found.exactness) found = { q, exactness };
  }
  return found;
}

function rangeOf(item: string): Range {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const q = weight === undefined ? 1 : Number(weight.slice(2));
  return { name, q: q >= 0 && q <= 1 ? q : 1 };
}
