/** Reads what a provider says about when to come back. */

/** A provider may say more; nobody here waits longer, and what is told to clients is clamped as well. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = String.raw`(?<h>\d\d):(?<m>\d\d):(?<s>\d\d)`;

/** The three forms of RFC 9110, 5.6.7, all in GMT. `Date.parse` is no help: it takes "abc 5" for a date. */
const HTTP_DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/**
 * Milliseconds to wait from `now` (epoch ms), from a `Retry-After` header: seconds, or an HTTP date. At most one hour,
 * even where the header says more. Undefined where it is absent, garbage, negative or a time in the past (clocks differ;
 * coming back at once would be the wrong conclusion): the caller's own back-off is right then.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  const ms = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : untilDate(text, now);
  return ms === undefined || ms < 0 ? undefined : Math.min(Math.ceil(ms), MAX_RETRY_AFTER_MS);
}

function untilDate(text: string, now: number): number | undefined {
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const month = MONTHS.indexOf(parts.month ?? "");
    if (month < 0) return undefined;
    const at = Date.UTC(
      fullYear(Number(parts.year), now),
      month,
      Number(parts.day),
      Number(parts.h),
      Number(parts.m),
      Number(parts.s),
    );
    return at - now;
  }
  return undefined;
}

/** A year of two digits that looks more than 50 years ahead is in the past (RFC 9110). */
function fullYear(year: number, now: number): number {
  if (year >= 100) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const sameCentury = thisYear - (thisYear % 100) + year;
  return sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury;
}
