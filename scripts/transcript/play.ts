/**
 * One scene at the terminal client: its lines go in through a pipe, what a person would see comes back, with everything
 * that differs between two plays (ids, times) replaced by its kind.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Scene } from "./scene.ts";

export interface Played {
  readonly scene: Scene;
  readonly command: string;
  readonly output: string;
  /** null: the terminal was ended before it said it. */
  readonly conversationId: string | null;
}

const CONVERSATION = /\b[0-9a-hjkmnp-tv-z]{26}\b/;
const LONGEST_MS = 180_000;

/** @param before the conversation of the scene before: what `goesOn` goes on with */
export async function play(
  baseUrl: string,
  lang: "en" | "zh",
  scene: Scene,
  before: string | undefined,
): Promise<Played> {
  const options = [
    ...(scene.agent === "planner" ? [] : ["--agent", scene.agent]),
    ...(lang === "en" ? [] : ["--lang", lang]),
    ...(scene.user === undefined ? [] : ["--user", scene.user]),
    ...(scene.goesOn ? ["--conversation", before ?? ""] : []),
  ];
  const output = await terminal([...options, "--url", baseUrl], scene);
  return {
    scene,
    command: normalised(["npm run chat --", ...options].join(" "), baseUrl).replace(/ --$/, ""),
    output: normalised(output, baseUrl).trimEnd(),
    conversationId: CONVERSATION.exec(output)?.[0] ?? null,
  };
}

function terminal(args: readonly string[], { lines, cutAt }: Scene): Promise<string> {
  const script = join(import.meta.dirname, "../chat.ts");
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  return new Promise((resolve, reject) => {
    // Both in one: a terminal shows them in the order in which they come.
    let seen = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the scene did not end\n${seen}`));
    }, LONGEST_MS);
    const take = (chunk: string) => {
      seen += chunk;
      if (cutAt === undefined || !seen.includes(cutAt)) return;
      seen = seen.slice(0, seen.indexOf(cutAt) + cutAt.length);
      child.kill("SIGKILL");
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(seen);
    });
  });
}

export const normalised = (text: string, baseUrl: string): string =>
  text
    // A reader's service is at the usual place, and needs no word about it.
    .replaceAll(` --url ${baseUrl}`, "")
    .replaceAll(baseUrl, "http://127.0.0.1:8787")
    .replaceAll(new RegExp(CONVERSATION, "g"), "<conversation>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replaceAll(/[ \t]+$/gm, "")
    // Calls that run side by side end in either order.
    .replaceAll(/(?:^✓ .*\n){2,}/gm, (lines) => `${lines.trimEnd().split("\n").toSorted().join("\n")}\n`);
