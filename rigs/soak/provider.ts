/** The model of the soak: mostly as it was asked, at times one of the recorded answers that real providers gave. */
import { randomOf } from "../../sim/random.ts";
import type { Answer } from "../../test/support/answer-script.ts";
import { startFakeProvider, type FakeProvider } from "../../test/support/fake-provider.ts";
import { openFixtures } from "../../test/support/stream-fixtures.ts";
import { answerOf, readRequest } from "../crash/script.ts";

/** Of all answers, while there are faults. */
const FAULTY = 0.15;
/** A conversation with this model is told long things. */
export const LONG = "soak-long";
/** Characters of a long answer, and how many pieces it comes in. */
export const LONG_CHARS = 300_000;
const LONG_CHUNKS = 150;

export class SoakProvider {
  readonly fake: FakeProvider;
  /** No faults from now on. */
  calm = false;
  faults = 0;

  private constructor(fake: FakeProvider) {
    this.fake = fake;
  }

  static async start(seed: number): Promise<SoakProvider> {
    const random = randomOf(seed, "provider");
    const fixtures = openFixtures().names();
    let one: SoakProvider | null = null;
    const respond = (scope: string, body: Record<string, unknown>): Answer | undefined => {
      if (scope === LONG)
        return { text: "all work and no play ".repeat(LONG_CHARS / 21), chunks: LONG_CHUNKS, delayMs: 2 };
      const fixture = random.pick(fixtures);
      if (one && !one.calm && fixture !== undefined && random.chance(FAULTY)) {
        one.faults += 1;
        return { fixture };
      }
      const asked = readRequest(body);
      return asked ? answerOf(asked.script, asked.step, random.pick([0, 1, 4])) : undefined;
    };
    // What the recorded answers wait is scaled down: their silences last minutes.
    one = new SoakProvider(await startFakeProvider({ respond, timeScale: 0.1 }));
    return one;
  }
}
