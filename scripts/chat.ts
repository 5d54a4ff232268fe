/**
 * `npm run chat`: the service at a terminal, against a running `npm start`.
 *
 *   --agent planner|opspilot   whom to talk to            --lang en|zh        the language
 *   --user NAME                the development sign-in     --url URL           the service
 *   --conversation ID          go on with a conversation   --token TOKEN       instead of the development sign-in
 */
import { HoldpointClient } from "../src/client/client.ts";
import { ProblemError } from "../src/client/http.ts";
import type { InboxItem } from "../src/protocol/history.ts";
import type { Conversation } from "../src/protocol/conversation.ts";
import { linesOf } from "./chat/input.ts";
import { optionsOf, returnCommand } from "./chat/options.ts";
import { terminalScreen } from "./chat/screen.ts";
import { Session } from "./chat/session.ts";
import { WORDS } from "./chat/words.ts";

const options = optionsOf(process.argv.slice(2));
if (typeof options === "string") {
  console.error(options);
  process.exit(2);
}
const { agent, user, url, lang } = options;
const words = WORDS[lang];

async function signIn(): Promise<string> {
  const answer = await fetch(`${url}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId: user, locale: lang, ttlSeconds: 3_600 }),
  });
  if (!answer.ok) throw new Error(`the development sign-in answered ${answer.status}: give --token`);
  return ((await answer.json()) as { token: string }).token;
}

const token = options.token ?? (await signIn().catch(unreachable));
const client = new HoldpointClient({ baseUrl: url, token: () => token });
const input = linesOf(process.stdin, process.stdout);
const screen = terminalScreen((text) => process.stdout.write(text));

/** One line of what went wrong, and what to look at. */
function said(error: unknown): string {
  if (error instanceof ProblemError) return `${error.problem.title}: ${error.problem.detail}`;
  // What fetch throws when nobody answers has the cause with it; a mistake in this program has none.
  if (error instanceof TypeError && error.cause !== undefined) return words.unreachable(url);
  return error instanceof Error ? error.message : String(error);
}

function unreachable(error: unknown): never {
  console.error(said(error));
  process.exit(1);
}

const open = (conversation: Conversation) => new Session(client, conversation, screen, words, input.ask);
let session = open(
  options.conversation === undefined
    ? await client.createConversation({ agent }).catch(unreachable)
    : await client.conversation(options.conversation).catch(unreachable),
);
let stopping = false;
input.onInterrupt(() => {
  if (stopping) process.exit(130);
  stopping = true;
  session.cancel().then(
    (running) => {
      stopping = false;
      if (!running) input.close();
    },
    (error: unknown) => {
      console.error(`! ${said(error)} ${words.notStopped}`);
      leave(1);
    },
  );
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

function leave(code: number): never {
  session.close();
  input.close();
  console.log(`${words.bye} ${returnCommand(session.conversationId, process.argv.slice(2))}`);
  process.exit(code);
}

for (;;) {
  const line = await input.ask(`${words.you} > `);
  if (line === null) break;
  const text = line.trim();
  if (text === "") continue;
  if (text === "/pending") {
    const found = await pendingElsewhere();
    if (found.length === 0) console.log(words.none);
    for (const { conversationId, title } of found) console.log(`  ${title}  --conversation ${conversationId}`);
  } else if (text === "/new") {
    session.close();
    session = open(await client.createConversation({ agent }));
  } else if (/^\/\w*$/.test(text)) {
    console.log(words.hint);
  } else {
    await session.say(text).catch((error: unknown) => console.error(`! ${said(error)}`));
  }
}
leave(0);
