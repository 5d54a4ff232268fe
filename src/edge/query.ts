/** Query parameters: the ones that a route knows, each at most once. Others are ignored: proxies and trackers add them. */
import * as z from "zod";
import { LIMITS } from "../protocol/limits.ts";
import { reject, type Result } from "../protocol/problems.ts";
import { fieldErrors } from "../protocol/schema-errors.ts";

export const Limit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/, { error: `must be 1 to ${LIMITS.pageMax}` })
  .transform(Number)
  .refine((limit) => limit <= LIMITS.pageMax, { error: `must be 1 to ${LIMITS.pageMax}` })
  .default(LIMITS.page);
export const PageCursorText = z.string().min(1).max(1_024).optional();

const CURSORS: ReadonlySet<string> = new Set(["after", "cursor"]);

export function readQuery<Q>(schema: z.ZodObject & z.ZodType<Q>, url: URL): Result<Q> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const values = url.searchParams.getAll(name);
    const [value] = values;
    if (value === undefined) continue;
    if (values.length > 1) return refuse(name, "must be given once");
    if (!value.isWellFormed()) return refuse(name, "must be well-formed Unicode");
    given[name] = value;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [first, ...rest] = fieldErrors(parsed.error);
  const name = first?.pointer.slice(1) ?? "";
  if (CURSORS.has(name)) return { ok: false, rejection: reject("cursor_invalid", "The cursor is not one of ours.") };
  const errors = [...(first ? [first] : []), ...rest];
  return { ok: false, rejection: reject("invalid_request", "A query parameter is not acceptable.", { errors }) };
}

const refuse = (name: string, detail: string): Result<never> => ({
  ok: false,
  rejection: reject("invalid_request", "A query parameter is not acceptable.", {
    errors: [{ pointer: `/${name}`, detail }],
  }),
});
