/**
 * What the person types: lines as they come, also from a pipe; a question takes the next one. `/quit` ends the input
 * wherever it is typed, so that no question can keep somebody.
 */
import { createInterface } from "node:readline";

/**
 * Asks the person and resolves with the line; null when the input has ended, or the question was withdrawn by its
 * signal.
 */
export type Ask = (prompt: string, withdrawn?: AbortSignal) => Promise<string | null>;

export interface Input {
  readonly ask: Ask;
  close(): void;
  onInterrupt(act: () => void): void;
}

type Take = (line: string | null) => void;

export function linesOf(source: NodeJS.ReadStream | NodeJS.ReadableStream, sink: NodeJS.WritableStream): Input {
  const terminal = "isTTY" in source && source.isTTY;
  const readline = createInterface({ input: source, output: sink, terminal });
  const waiting: Take[] = [];
  const lines: string[] = [];
  let ended = false;
  readline.on("line", (line) => {
    if (line.trim() === "/quit") {
      readline.close();
      return;
    }
    const take = ended ? undefined : waiting.shift();
    if (take) take(line);
    else if (!ended) lines.push(line);
  });
  readline.on("close", () => {
    ended = true;
    for (const take of waiting.splice(0)) take(null);
  });

  const ask: Ask = (prompt, withdrawn) => {
    if (withdrawn?.aborted) return Promise.resolve(null);
    const ready = lines.shift();
    if (ready !== undefined) {
      sink.write(terminal ? prompt : `${prompt}${ready}\n`);
      return Promise.resolve(ready);
    }
    if (ended) return Promise.resolve(null);
    readline.setPrompt(prompt);
    readline.prompt();
    return new Promise((resolve) => {
      const take: Take = (line) => {
        withdrawn?.removeEventListener("abort", withdraw);
        resolve(line);
      };
      const withdraw = () => {
        const at = waiting.indexOf(take);
        if (at >= 0) waiting.splice(at, 1);
        sink.write("\n");
        take(null);
      };
      withdrawn?.addEventListener("abort", withdraw, { once: true });
      waiting.push(take);
    });
  };
  return { ask, close: () => readline.close(), onInterrupt: (act) => readline.on("SIGINT", act) };
}
