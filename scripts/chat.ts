/**
 * `npm run chat`: the service at a terminal, against a running `npm start`.
 *
 *   --agent planner|opspilot   whom to talk to            --lang en|zh        the language
 *   --user NAME                the development sign-in     --url URL           the service
 *   --conversation ID          go on with a conversation   --token TOKEN       instead of the development sign-in
 */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { HoldpointClient } from "../src/client/client.ts";
import { ProblemError } from "../src/client/http.ts";
import type { InboxItem } from "../src/protocol/history.ts";
import type { Conversation } from "../src/protocol/conversation.ts";
import { terminalScreen } from "./chat/screen.ts";
import { Session, type Ask } from "./chat/session.ts";
import { WORDS } from "./chat/words.ts";

const { values } = parseArgs({
  options: {
    agent: { type: "string", default: "planner" },
    lang: { type: "string", default: "en" },
    user: { type: "string", default: "you" },
    url: { type: "string", default: "http://127.0.0.1:8787" },
    conversation: { type: "string" },
    token: { type: "string" },
  },
});
const lang = values.lang === "zh" ? "zh" : "en";
const words = WORDS[lang];
const { agent, user, url } = values;

async function signIn(): Promise<string> {
  const answer = await fetch(`${url}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId: user, locale: lang, ttlSeconds: 3_600 }),
  });
  if (!answer.ok) throw new Error(`the development sign-in answered ${answer.status}: give --token`);
  return ((await answer.json()) as { token: string }).token;
}

/** Lines as they come, also from a pipe; a question takes the next one. */
function reader(): { ask: Ask; close: () => void; onInterrupt: (act: () => void) => void } {
  const readline = createInterface({ input: process.stdin, output: process.stdout, terminal: process.stdin.isTTY });
  const waiting: ((line: string | null) => void)[] = [];
  const lines: string[] = [];
  let ended = false;
  readline.on("line", (line) => {
    const take = waiting.shift();
    if (take) take(line);
    else lines.push(line);
  });
  readline.on("close", () => {
    ended = true;
    for (const take of waiting.splice(0)) take(null);
  });
  return {
    ask: (prompt) => {
      const ready = lines.shift();
      if (ready !== undefined) {
        process.stdout.write(process.stdin.isTTY ? prompt : `${prompt}${ready}\n`);
        return Promise.resolve(ready);
      }
      if (ended) return Promise.resolve(null);
      readline.setPrompt(prompt);
      readline.prompt();
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: () => readline.close(),
    onInterrupt: (act) => readline.on("SIGINT", act),
  };
}

const token = values.token ?? (await signIn().catch(unreachable));
const client = new HoldpointClient({ baseUrl: url, token: () => token });
const input = reader();
const screen = terminalScreen((text) => process.stdout.write(text));

function unreachable(error: unknown): never {
  if (error instanceof ProblemError) {
    console.error(`${error.problem.title}: ${error.problem.detail}`);
    process.exit(1);
  }
  console.error(
    `${url} cannot be used: ${error instanceof Error ? error.message : String(error)}. Is \`npm start\` running?`,
  );
  process.exit(1);
}

const open = (conversation: Conversation) => new Session(client, conversation, screen, words, input.ask);
let session = open(
  values.conversation === undefined
    ? await client.createConversation({ agent }).catch(unreachable)
    : await client.conversation(values.conversation).catch(unreachable),
);
let stopping = false;
input.onInterrupt(() => {
  if (stopping) process.exit(130);
  stopping = true;
  void session.cancel().then((running) => {
    stopping = false;
    if (!running) input.close();
  });
});

async function pendingElsewhere(): Promise<{ conversationId: string; title: string }[]> {
  const page = await client.confirmations({ limit: 20 }).catch(() => ({ data: [] }));
  return (page.data as InboxItem[])
    .filter(({ conversationId }) => conversationId !== session.conversationId)
    .map(({ conversationId, title, conversationTitle }) => ({
      conversationId,
      title: `${title} — ${conversationTitle}`,
    }));
}

console.log(`${words.hint}\n`);
const waiting = await pendingElsewhere();
if (waiting.length > 0) console.log(words.others(waiting.length));
const unfinished = (await client.conversation(session.conversationId)).activeRun;
if (unfinished) await session.follow(unfinished.id);

for (;;) {
  const line = await input.ask(`${words.you} > `);
  if (line === null || line.trim() === "/quit") break;
  const text = line.trim();
  if (text === "") continue;
  if (text === "/pending") {
    const found = await pendingElsewhere();
    if (found.length === 0) console.log(words.none);
    for (const { conversationId, title } of found) console.log(`  ${title}  --conversation ${conversationId}`);
  } else if (text === "/new") {
    session.close();
    session = open(await client.createConversation({ agent }));
  } else {
    await session
      .say(text)
      .catch((error: unknown) => console.error(`! ${error instanceof Error ? error.message : String(error)}`));
  }
}
session.close();
input.close();
console.log(`${words.bye} npm run chat -- --conversation ${session.conversationId}`);
process.exit(0);
