/** What a schema found, as a client can use it: one entry per member, with a JSON pointer to it. Never the value. */
import type * as z from "zod";
import type { FieldError } from "../protocol/problems.ts";
import { pointerToken } from "./json-bounds.ts";

const MOST = 20;

export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.flatMap((issue) => errorsOf(issue)).slice(0, MOST);
}

function errorsOf(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ pointer: pointerOf([...issue.path, key]), detail: "unknown member" }));
  }
  return [{ pointer: pointerOf(issue.path), detail: issue.message }];
}

const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((token) => `/${pointerToken(String(token))}`).join("");
