/**
 * `npm run rebuild -- --reason "…" [--url U] [--look | --anew] [--state-dir DIR | --account A --namespace N]`: D1 brought
 * back from the actors. Candidates are the conversations that D1 names, and the objects that the platform has listed, or
 * that lie in a local folder; each says itself whose it is. Without `--look` or `--anew` only what is lacking is brought.
 *
 * HOLDPOINT_TOKEN       of a platform's administrator; `--development` signs one in where the development sign-in is on
 * CLOUDFLARE_API_TOKEN  to list the objects of a namespace
 */
import { parseArgs } from "node:util";
import { finish } from "./report.ts";
import { objectsInFolder, objectsOfNamespace } from "./rebuild/objects.ts";
import { isDone, rebuild } from "./rebuild/order.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: `http://127.0.0.1:${process.env["PORT"] || "8787"}` },
    reason: { type: "string", default: "" },
    look: { type: "boolean", default: false },
    anew: { type: "boolean", default: false },
    development: { type: "boolean", default: false },
    "state-dir": { type: "string" },
    account: { type: "string" },
    namespace: { type: "string" },
  },
});
const { url: baseUrl, reason, look, anew } = values;
const mode = look ? "look" : anew ? "anew" : "bring";

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

async function developmentToken(): Promise<string> {
  const response = await fetch(`${baseUrl}/dev/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId: "rebuild", scopes: ["platform:admin"] }),
  });
  if (!response.ok) refuse(`nobody can be signed in: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}

async function listed(): Promise<string[]> {
  const { account, namespace } = values;
  if (values["state-dir"] !== undefined) return objectsInFolder(values["state-dir"]);
  if (account === undefined || namespace === undefined) return [];
  const token = process.env["CLOUDFLARE_API_TOKEN"] || refuse("CLOUDFLARE_API_TOKEN is needed to list objects");
  return objectsOfNamespace({ accountId: account, namespaceId: namespace, token });
}

if (reason === "") refuse('say why with --reason "…": it is kept');
const given = values.development ? await developmentToken() : process.env["HOLDPOINT_TOKEN"];
const token = given || refuse("HOLDPOINT_TOKEN must be the token of a platform's administrator");
const objectIds = await listed();
console.log(`${objectIds.length} objects are listed`);
let told = 0;
const accounts = await rebuild({ baseUrl, token, reason }, mode, objectIds, ({ size }) => {
  if (size < told + 200) return;
  told = size;
  console.log(`${size} objects`);
});

const all = [...accounts];
const conversations = all.flatMap(([objectId, account]) =>
  account.kind === "conversation" ? [{ objectId, ...account }] : [],
);
const behind = conversations.filter((account) => !isDone(account));
const aside = conversations.filter(({ parked }) => parked.length > 0);
for (const { tenantId, conversationId, stands, head, lagMs } of behind) {
  console.log(`${tenantId} ${conversationId}: at ${stands} of ${head}, ${lagMs} ms behind`);
}
for (const { tenantId, conversationId, parked } of aside) {
  for (const { seq, attempts, reason } of parked) {
    console.log(`${tenantId} ${conversationId}: event ${seq} is set aside after ${attempts} refusals: ${reason}`);
  }
}
const count = (kind: string) => all.filter(([, account]) => account.kind === kind).length;
const unreachable = count("unreachable");
finish(unreachable === 0 && (look || behind.length === 0), {
  mode,
  objects: all.length,
  conversations: conversations.length,
  restored: conversations.filter(({ stood, stands }) => stands > stood).length,
  behind: behind.length,
  parked: aside.reduce((sum, { parked }) => sum + parked.length, 0),
  maxLagMs: Math.max(0, ...conversations.map(({ lagMs }) => lagMs)),
  empty: count("empty"),
  erased: count("erased"),
  unreachable,
});
