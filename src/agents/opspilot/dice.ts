/** Numbers that only the tenant and the place they are used in decide: two looks at the same moment see the same. */

/** From 0 to below 1. FNV-1a over the parts, then a mix of its bits. Not for secrets. */
export function chance(...parts: readonly (string | number)[]): number {
  let value = 0x811c9dc5;
  for (const unit of parts.join("\u0000")) value = Math.imul(value ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return ((value ^ (value >>> 16)) >>> 0) / 2 ** 32;
}
