/** Every variant, with the breakers off and on, side by side. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { startFakeProvider } from "../../test/support/fake-provider.ts";
import { answerTo, type Told } from "./model.ts";
import type { Order, Played } from "./play.ts";
import { VARIANTS, type VariantName } from "./variant.ts";

/** A model takes its time: this much for an answer. */
export const ANSWER_MS = 150;

/** What the provider saw of it. */
export interface Paid extends Played {
  readonly requests: number;
  readonly sentBytes: number;
  readonly largestBytes: number;
  /** Requests that a real provider would have refused: a transcript that is not valid. */
  readonly violations: number;
}
export interface Pair {
  readonly variant: VariantName;
  readonly off: Paid;
  readonly on: Paid;
}

/**
 * @param answerMs what the model takes for an answer
 * @param playOne where: in a process of its own, so that its memory can be told
 */
export async function playPairs(answerMs = ANSWER_MS, playOne: typeof inProcess = inProcess): Promise<Pair[]> {
  const names = Object.keys(VARIANTS) as VariantName[];
  const provider = await startFakeProvider({
    respond: (scope, { messages }) =>
      answerTo(messages as unknown as Told[], VARIANTS[scope.split(" ")[0] as VariantName].varies, answerMs),
  });
  const paid = async (variant: VariantName, breakers: boolean): Promise<Paid> => {
    const model = `${variant} ${breakers ? "on" : "off"}`;
    const played = await playOne({ variant, breakers, baseUrl: provider.baseUrl, model });
    // The last request is that of the run after it.
    const sizes = provider
      .requests(model)
      .slice(0, -1)
      .map(({ bodyBytes }) => bodyBytes);
    return {
      ...played,
      requests: sizes.length,
      sentBytes: sizes.reduce((sum, size) => sum + size, 0),
      largestBytes: Math.max(...sizes),
      violations: provider.stats(model).violations.length,
    };
  };
  const pair = async (variant: VariantName): Promise<Pair> => {
    const [off, on] = await Promise.all([paid(variant, false), paid(variant, true)]);
    return { variant, off, on };
  };
  try {
    return await Promise.all(names.map(pair));
  } finally {
    await provider.close();
  }
}

function inProcess(order: Order): Promise<Played> {
  const child = fork(join(import.meta.dirname, "child.ts"), [JSON.stringify(order)], {
    execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
  });
  return new Promise((resolve, reject) => {
    child.once("message", (played) => resolve(played as Played));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the play ended with ${code}`)));
  });
}
