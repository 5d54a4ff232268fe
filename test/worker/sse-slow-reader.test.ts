/** Case S66: a client of HTTP that opens a stream and does not read. */
import { describe, expect, test } from "vitest";
import type { Run } from "../../src/protocol/run.ts";
import { Talk } from "./harness/talk.ts";

const pathOf = (talk: Talk) => `/v1/conversations/${talk.id}/events`;

describe("S66: a client that opens a stream and does not read", () => {
  test(
    "costs the run nothing; where it was cut it goes on at last, and has missed no event",
    { timeout: 90_000 },
    async () => {
      // Previews and messages are 20 MB together; few tokens are booked, or the conversation would end at its limit of them.
      const usage = { prompt_tokens: 10, completion_tokens: 10 };
      const long = { text: `${"读".repeat(79)} `.repeat(6_250), chunks: 200, usage };
      const talk = await Talk.open({ answers: Array.from({ length: 14 }, () => long) });
      const listen = (after: number) =>
        talk.person.call("GET", `${pathOf(talk)}?after=${talk.beginning.replace(/\d+$/, String(after))}`, {
          headers: { accept: "text/event-stream" },
        });
      const stuck = await listen(0);
      const runs: Run[] = [];
      for (let n = 0; n < 14; n++) runs.push((await talk.play()).run);
      expect(runs.map(({ status }) => status)).toEqual(runs.map(() => "completed"));
      expect(talk.watcher.view).toMatchObject({ gaps: 0, repeats: 0 });
      const sent = new TextEncoder().encode(JSON.stringify(talk.watcher.frames)).length;
      expect(sent).toBeGreaterThan(20e6);
      const last = talk.events.at(-1)?.seq ?? 0;
      const read = await readUntil(stuck, last);
      // Beyond what a lagging reader is sent of previews, it gets none.
      expect(read.deltas).toBeLessThan(talk.watcher.frames.filter(({ type }) => type === "delta").length / 2);
      const ids = [...read.ids];
      while (ids.at(-1) !== last) ids.push(...(await readUntil(await listen(ids.at(-1) ?? 0), last)).ids);
      expect(ids).toEqual(talk.events.map(({ seq }) => seq));
    },
  );
});

/** Reads a raw stream up to this event, or to where it was cut. */
async function readUntil(response: Response, last: number) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error("no body");
  const ids: number[] = [];
  let deltas = 0;
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { ids, deltas };
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.includes("event: delta\n")) deltas++;
      const id = /^id: [a-z0-9]{8}\.(\d+)$/m.exec(block)?.[1];
      if (id !== undefined) ids.push(Number(id));
      if (Number(id) !== last) continue;
      await reader.cancel();
      return { ids, deltas };
    }
  }
}
