/** The service's log in this isolate: tests run beside it, so its console is theirs. */
const errors: unknown[] = [];
const shown = console.error.bind(console);

console.error = (line: unknown, ...more: unknown[]) => {
  if (typeof line === "string" && line.startsWith('{"at":')) errors.push(JSON.parse(line));
  shown(line, ...more);
};

/** Entries of level error so far. */
export const loggedErrors = (): readonly unknown[] => errors;
