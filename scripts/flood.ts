/**
 * `npm run flood [-- --rate 400 --rounds 5]`: one tenant's flood, and what another's work feels of it. A neighbour starts
 * runs and reads, first alone, then while somebody of another tenant sends far more than they may: commands, reads, bad
 * tokens, frames. Quiet and flooded stretches take turns, so that what else this machine does weighs on both alike.
 *
 * The neighbour's p99 may be at most twice what it is alone.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pause, percentile } from "../rigs/common/figures.ts";
import { signIn, type Person } from "../rigs/common/people.ts";
import { startFakeProvider } from "../test/support/fake-provider.ts";
import { finish } from "./report.ts";
import { bundleInto } from "./runtime/bundle.ts";
import { freePort, startRuntime } from "./service.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "400" },
    rounds: { type: "string", default: "5" },
    requests: { type: "string", default: "60" },
  },
});
const rate = Number(values.rate);
const rounds = Number(values.rounds);
const perStretch = Number(values.requests);
/** As in production: a user's requests in a minute. */
const RATE_USER = 1_200;
const MOST = 2;

const dir = mkdtempSync(join(tmpdir(), "holdpoint-flood-"));
const stateDir = join(dir, "state");
mkdirSync(stateDir);
const model = await startFakeProvider();
console.log("building the service");
const service = await startRuntime({
  port: await freePort(),
  stateDir,
  bundleDir: await bundleInto(join(dir, "bundle")),
  rates: { user: RATE_USER, tenant: RATE_USER * 25 },
  vars: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: "flood", LAB_BACKEND_URL: "http://127.0.0.1:1" },
});
const { baseUrl } = service;
const port = Number(new URL(baseUrl).port);

interface Sender {
  readonly send: (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<number>;
  readonly close: () => void;
}

/** Its own connections, kept open. @returns statuses; the body is read and forgotten */
function senderOf(token: string, sockets: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  return {
    close: () => agent.destroy(),
    send: (method, path, headers = {}, body) =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          { host: "127.0.0.1", port, agent, method, path, headers: { authorization: `Bearer ${token}`, ...headers } },
          (incoming) => {
            incoming.resume();
            incoming.on("end", () => resolve(incoming.statusCode ?? 0));
          },
        );
        outgoing.on("error", reject);
        outgoing.end(body);
      }),
  };
}

const JSON_TYPE = { "content-type": "application/json" };
async function converse({ token }: Person): Promise<string> {
  const answer = await fetch(`${baseUrl}/v1/conversations`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...JSON_TYPE },
    body: JSON.stringify({ agent: "lab", metadata: { model: "flood" } }),
  });
  return ((await answer.json()) as { id: string }).id;
}

const start = (sender: Sender, conversation: string) =>
  sender.send(
    "POST",
    `/v1/conversations/${conversation}/runs`,
    { ...JSON_TYPE, "idempotency-key": crypto.randomUUID() },
    JSON.stringify({ input: { text: "hello" } }),
  );

/** Sends at its rate for as long as it is on, whatever comes back. */
class Flood {
  readonly statuses: Record<string, number> = {};
  #on = false;

  constructor(sender: Sender, conversation: string) {
    const kinds = [
      () => start(sender, conversation),
      () => sender.send("GET", `/v1/conversations/${conversation}`),
      () => sender.send("GET", "/v1/conversations?q=hello"),
      () => sender.send("GET", "/v1/me", { authorization: "Bearer not-a-token" }),
      () => sender.send("POST", `/v1/conversations/${conversation}/runs`, JSON_TYPE, "{"),
    ];
    let sent = 0;
    setInterval(() => {
      for (let n = 0; this.#on && n < rate / 50; n++) {
        const kind = kinds[sent++ % kinds.length];
        void kind?.().then(
          (status) => (this.statuses[status] = (this.statuses[status] ?? 0) + 1),
          () => undefined,
        );
      }
    }, 20).unref();
  }

  set on(on: boolean) {
    this.#on = on;
  }
}

const neighbour = await signIn(baseUrl, "ann", "quiet");
const flooder = await signIn(baseUrl, "flo", "loud");
const calm = senderOf(neighbour.token, 2);
const loud = senderOf(flooder.token, 32);
const flood = new Flood(loud, await converse(flooder));
const took: Record<"alone" | "flooded", number[]> = { alone: [], flooded: [] };
let unwell = 0;

async function stretch(times: number[]): Promise<void> {
  const conversation = await converse(neighbour);
  for (let n = 0; n < perStretch; n++) {
    const began = performance.now();
    const status =
      n % 2 === 0 ? await start(calm, conversation) : await calm.send("GET", `/v1/conversations/${conversation}`);
    times.push(performance.now() - began);
    if (status >= 300) unwell += 1;
    await pause(25);
  }
}

await stretch([]);
for (let round = 1; round <= rounds; round++) {
  await stretch(took.alone);
  flood.on = true;
  await pause(300);
  await stretch(took.flooded);
  flood.on = false;
  await pause(300);
  console.log(
    `round ${round} of ${rounds}: p99 alone ${percentile(took.alone, 99)} ms, flooded ${percentile(took.flooded, 99)} ms`,
  );
}
calm.close();
loud.close();
await service.kill();
await model.close();
rmSync(dir, { recursive: true, force: true });

const of = (times: readonly number[]) => ({ p50Ms: percentile(times, 50) ?? 0, p99Ms: percentile(times, 99) ?? 0 });
const [alone, flooded] = [of(took.alone), of(took.flooded)];
const ratio = Math.round((flooded.p99Ms / alone.p99Ms) * 100) / 100;
const refused = (flood.statuses["429"] ?? 0) > 0;
finish(ratio <= MOST && unwell === 0 && refused, {
  alone,
  flooded,
  ratio,
  most: MOST,
  unwell,
  rate,
  flood: flood.statuses,
  settings: { RATE_USER },
});
