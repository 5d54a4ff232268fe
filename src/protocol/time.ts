/**
 * Epoch milliseconds ⇄ ISO 8601 in UTC, without `Date`: the core is pure and has no clock, and its events carry times
 * as the wire does. Days ⇄ civil date after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
 */
const DAY = 86_400_000;
const pad = (n: number, width: number) => String(n).padStart(width, "0");

/** @param ms epoch milliseconds, years 0001 to 9999 */
export function isoOf(ms: number): string {
  const days = Math.floor(ms / DAY);
  const rest = ms - days * DAY;
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const clock = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1_000) % 60].map((n) => pad(Math.floor(n), 2));
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${clock.join(":")}.${pad(rest % 1_000, 3)}Z`;
}

const ZERO = 48;
const NINE = 57;
const SHAPE = "0000-00-00T00:00:00.000Z";

/** The inverse of `isoOf`, for text that `isoOf` wrote; NaN for anything else. */
export function epochOf(iso: string): number {
  if (!isIso(iso)) return Number.NaN;
  const year = digits(iso, 0, 4);
  const month = digits(iso, 5, 7);
  const day = digits(iso, 8, 10);
  const hour = digits(iso, 11, 13);
  const minute = digits(iso, 14, 16);
  const second = digits(iso, 17, 19);
  const ms = digits(iso, 20, 23);
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) * DAY + ((hour * 60 + minute) * 60 + second) * 1_000 + ms;
}

function isIso(iso: string): boolean {
  if (iso.length !== SHAPE.length) return false;
  for (let at = 0; at < iso.length; at++) {
    const code = iso.charCodeAt(at);
    const wanted = SHAPE.charCodeAt(at);
    if (wanted === ZERO ? code < ZERO || code > NINE : code !== wanted) return false;
  }
  return true;
}

/** Of text that was checked. Every event is read and written with its time: a regular expression is felt here. */
function digits(text: string, from: number, to: number): number {
  let n = 0;
  for (let at = from; at < to; at++) n = n * 10 + text.charCodeAt(at) - ZERO;
  return n;
}
