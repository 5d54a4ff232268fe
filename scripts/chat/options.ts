/** The options of `npm run chat`, and the command that comes back to a conversation with the same ones. */
import { parseArgs } from "node:util";

const OPTIONS = {
  agent: { type: "string", default: "planner" },
  lang: { type: "string", default: "en" },
  user: { type: "string", default: "you" },
  url: { type: "string", default: "http://127.0.0.1:8787" },
  conversation: { type: "string" },
  token: { type: "string" },
} as const;

const USAGE =
  "usage: npm run chat -- [--agent planner|opspilot] [--lang en|zh] [--user NAME] [--url URL] [--conversation ID] [--token TOKEN]";

const parse = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;

export interface Options extends ReturnType<typeof parse> {
  readonly lang: "en" | "zh";
}

/** @returns the options, or the sentence that says what is wrong with them */
export function optionsOf(args: readonly string[]): Options | string {
  try {
    const { lang, ...rest } = parse(args);
    if (lang !== "en" && lang !== "zh") return `--lang ${lang}: there are en and zh\n${USAGE}`;
    return { ...rest, lang };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`;
  }
}

/** Who somebody is and where the service runs belong to coming back; a token does not belong on a screen. */
export function returnCommand(conversationId: string, args: readonly string[]): string {
  const given = parse(args);
  const again = (["user", "lang", "url"] as const).flatMap((name) =>
    given[name] === OPTIONS[name].default ? [] : [`--${name} ${given[name]}`],
  );
  return ["npm run chat -- --conversation", conversationId, ...again].join(" ");
}
