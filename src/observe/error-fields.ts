/** An error for the log: what it is, what it says without what it quotes, and what was behind it. Never throws. */
import { scrub } from "./scrub.ts";

export interface ErrorFields {
  readonly name: string;
  readonly message: string;
  /** In development only: stacks name files, and repeat the message. */
  readonly stack?: string;
  readonly cause?: ErrorFields;
}

const DEPTH = 4;

export function errorFields(error: unknown, secrets: readonly string[], stacks: boolean, depth = 0): ErrorFields {
  try {
    if (!(error instanceof Error)) return { name: typeof error, message: saidBy(error, secrets) };
    const stack = stacks && typeof error.stack === "string" ? { stack: framesOf(error.stack, secrets) } : {};
    const cause =
      error.cause === undefined || depth >= DEPTH
        ? {}
        : { cause: errorFields(error.cause, secrets, stacks, depth + 1) };
    return { name: nameOf(error), message: messageOf(error, secrets), ...stack, ...cause };
  } catch {
    // Getters of somebody else's error.
    return { name: "unreadable", message: "" };
  }
}

const nameOf = ({ name }: Error): string => (/^[A-Za-z][A-Za-z0-9_.]{0,63}$/.test(name) ? name : "Error");

/** The parser quotes the text that it could not parse: somebody's words, or a secret without a form. */
function messageOf(error: Error, secrets: readonly string[]): string {
  const { message } = error;
  if (typeof message !== "string") return "";
  return scrub(error instanceof SyntaxError ? message.replace(/(["'`])[\s\S]*/, "$1…") : message, secrets);
}

function saidBy(thrown: unknown, secrets: readonly string[]): string {
  switch (typeof thrown) {
    case "string":
      return scrub(thrown, secrets);
    case "number":
    case "boolean":
    case "undefined":
      return String(thrown);
    default:
      return thrown === null ? "null" : "";
  }
}

/** The places without the message, which stands beside it, cleaned. */
function framesOf(stack: string, secrets: readonly string[]): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, 12)
    .map((line) => scrub(line.trim(), secrets))
    .join(" | ");
}
