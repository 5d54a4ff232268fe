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

const ISO = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})\.(\d{3})Z$/;

/** The inverse of `isoOf`, for text that `isoOf` wrote; NaN for anything else. */
export function epochOf(iso: string): number {
  const found = ISO.exec(iso);
  if (!found) return Number.NaN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0] = found.slice(1).map(Number);
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) * DAY + ((hour * 60 + minute) * 60 + second) * 1_000 + ms;
}
