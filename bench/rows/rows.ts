/** What turns write: a short one, and one with two confirmed calls, one after the other, and fifteen seconds of text. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { bundleInto } from "../../scripts/runtime/bundle.ts";
import { freePort } from "../../scripts/service.ts";
import { newName, Talk } from "../load/talk.ts";
import { ours } from "../peer-ours.ts";
import type { Spent } from "./index.ts";

const CALLS = 2;
/** One delta every 50 ms. */
const DELTAS = 300;
/** In which the history has been brought up to date. */
const SETTLE_MS = 2_000;

export interface Turns {
  readonly short: Spent;
  readonly long: Spent;
}

export async function rowsOfTurns(modelUrl: string): Promise<Turns> {
  const dir = mkdtempSync(join(tmpdir(), "holdpoint-rows-"));
  const bundle = await bundleInto(join(dir, "bundle"), "bench/rows/index.ts");
  const peer = ours({ toolsAtModel: true, bundle });
  const port = await freePort();
  await peer.start({ port, modelUrl, dataDir: join(dir, "data"), log: join(dir, "service.log") });
  const spent = async () => (await (await fetch(`http://127.0.0.1:${port}/bench/rows`)).json()) as Spent;
  try {
    const talk = await new Talk(peer).connect();
    // The conversation's first turn makes its tables.
    await talk.turn("n=1");
    await setTimeout(SETTLE_MS);
    await spent();
    await talk.turn("n=3");
    await setTimeout(SETTLE_MS);
    const short = await spent();
    await twoCalls(talk);
    await setTimeout(SETTLE_MS);
    return { short, long: await spent() };
  } finally {
    await peer.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function twoCalls(talk: Talk): Promise<void> {
  const run = newName("r");
  const args = JSON.stringify({ recipient_id: run, amount_cents: 500 });
  const ended = talk.until("done");
  let proposed = talk.until("proposal");
  talk.connection.send(`go [[id=${run} n=${DELTAS} d=50 tool=transfer calls=${CALLS} args=${args}]]`, run);
  for (let call = 1; call <= CALLS; call++) {
    const proposal = await proposed;
    if (call < CALLS) proposed = talk.until("proposal");
    talk.connection.confirm(proposal, true);
  }
  await ended;
}
