/**
 * `npm run transcript`: plays the stories in transcript/ on the real service, through the real terminal client,
 * and writes what was seen into docs/transcript.md and docs/transcript.zh.md. Nothing in those files is written by hand.
 *
 *   --check   writes nothing, and fails where the files are not what was seen now
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { finish } from "./report.ts";
import { freePort, startService } from "./service.ts";
import { play, type Played } from "./transcript/play.ts";
import { PAGES } from "./transcript/pages.ts";
import type { Page } from "./transcript/scene.ts";

const root = join(import.meta.dirname, "..");
const { check } = parseArgs({ options: { check: { type: "boolean", default: false } } }).values;

/** A service of its own per page: what one story leaves behind must not be in another language's. */
async function playPage(page: Page): Promise<Played[]> {
  const stateDir = mkdtempSync(join(tmpdir(), "holdpoint-transcript-"));
  const port = await freePort();
  const start = () => startService({ port, stateDir });
  let service = await start();
  try {
    const agents = await agentsOf(service.baseUrl);
    const played: Played[] = [];
    for (const scene of page.scenes.filter(({ agent }) => agents.has(agent))) {
      if (scene.killedBefore) {
        await service.kill();
        service = await start();
      }
      const before = scene.goesOn ? await latest(service.baseUrl, played) : undefined;
      played.push(await play(service.baseUrl, page.lang, scene, before));
      console.log(`✓ ${page.file}: ${scene.title}`);
    }
    return played;
  } finally {
    await service.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function ask(baseUrl: string, path: string): Promise<{ data: { id: string; name: string }[] }> {
  const signIn = await fetch(`${baseUrl}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId: "you" }),
  });
  const { token } = (await signIn.json()) as { token: string };
  const answer = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as { data: { id: string; name: string }[] };
}

/** Which of the agents this deployment has. */
const agentsOf = async (baseUrl: string): Promise<Set<string>> =>
  new Set((await ask(baseUrl, "/v1/agents")).data.map(({ name }) => name));

/** After a death nothing but the alarm wakes an object that nobody asks, and it may stand half a minute ahead. */
const PATIENCE_MS = 60_000;

/** The conversation of the scene before; where its terminal was ended too early to say it, the one that is new in the list. */
async function latest(baseUrl: string, played: readonly Played[]): Promise<string> {
  const last = played.at(-1)?.conversationId;
  if (last) return last;
  const known = new Set(played.map(({ conversationId }) => conversationId));
  for (const from = performance.now(); performance.now() - from < PATIENCE_MS;) {
    const [newest] = (await ask(baseUrl, "/v1/conversations?limit=1")).data;
    if (newest && !known.has(newest.id)) return newest.id;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("the conversation does not come into the list");
}

const render = ({ heading, intro }: Page, played: readonly Played[]): string =>
  [
    `# ${heading}`,
    intro,
    ...played.flatMap(({ scene: { title, says }, command, output }) => [
      `## ${title}`,
      says,
      `\`\`\`text\n$ ${command}\n${output}\n\`\`\``,
    ]),
    "",
  ].join("\n\n");

const stale: string[] = [];
let scenes = 0;
for (const page of PAGES) {
  const path = join(root, "docs", page.file);
  const played = await playPage(page);
  scenes += played.length;
  const text = render(page, played).replace(/\n+$/, "\n");
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    stale.push(page.file);
    const seen = join(tmpdir(), page.file);
    writeFileSync(seen, text);
    console.error(`docs/${page.file} is not what is seen now: diff docs/${page.file} ${seen}`);
  }
}
finish(stale.length === 0, { pages: PAGES.length, scenes, stale });
