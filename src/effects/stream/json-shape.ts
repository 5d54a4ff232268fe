/** Reading values out of parsed JSON of unknown shape, without trusting any of it. */
import { cutText } from "../../protocol/text.ts";

export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a member, or "" where there is none. */
export function textOr(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

/** A label of a vendor (a code, a type, a sentence): well-formed and bounded, since it goes on into logs and stops. */
export function label(value: string, maxChars: number): string {
  return cutText(value.toWellFormed(), maxChars);
}
