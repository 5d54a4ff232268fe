/** Lists over all conversations, through the Worker: what a run does shows in them soon, without anybody asking. */
import { expect, test } from "vitest";
import type { InboxItem } from "../../src/protocol/history.ts";
import type { Page } from "../../src/protocol/rpc.ts";
import { signIn, type Person } from "./harness/people.ts";
import { COMMON_TEXT, Talk } from "./harness/talk.ts";

const TRANSFER = { fixture: "common_propose_transfer" } as const;
const inbox = async (person: Person, query = ""): Promise<Page<InboxItem>> => {
  const answer = await person.call("GET", `/v1/confirmations${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
};

test("what waits for a person stands in that person's inbox, as the call is, until it is decided", async () => {
  const person = await signIn();
  const talks = [
    await Talk.open({ person, answers: [TRANSFER, COMMON_TEXT] }),
    await Talk.open({ person, answers: [TRANSFER, COMMON_TEXT] }),
  ];
  const asked = [];
  for (const talk of talks) asked.push({ talk, ...(await talk.ask()) });
  const calls = asked.map(({ calls: [call] }) => call).toReversed();
  await expect.poll(async () => (await inbox(person)).data.length).toBe(2);
  const { data } = await inbox(person);
  expect(data).toMatchObject(calls.map((call) => ({ ...call, kind: "decision", agent: "lab", remaining: 1 })));
  const first = await inbox(person, "?limit=1");
  const second = await inbox(person, `?limit=1&cursor=${first.nextCursor}`);
  expect([...first.data, ...second.data]).toEqual(data);
  expect(second.nextCursor).toBeNull();
  expect((await inbox(await signIn())).data).toEqual([]);
  for (const {
    talk,
    run,
    calls: [call],
  } of asked) {
    await talk.decide(run, call, "approve");
    await talk.ended(run);
  }
  await expect.poll(async () => (await inbox(person)).data).toEqual([]);
});
