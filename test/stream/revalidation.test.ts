import { expect, test } from "vitest";
import type { Principal } from "../../src/protocol/principal.ts";
import { Revalidation } from "../../src/stream/revalidation.ts";
import { FakeSocket, room } from "./fake-socket.ts";

class Watched {
  now = 50_000;
  readonly asked: string[] = [];
  rounds = 0;
  readonly revalidation: Revalidation;

  constructor(...sockets: FakeSocket[]) {
    this.revalidation = new Revalidation({
      sockets: room(...sockets),
      now: () => this.now,
      everyMs: 10_000,
      check: async (principals: readonly Principal[]) => this.asked.push(principals.map(({ userId }) => userId).join()),
      checked: () => void this.rounds++,
    });
  }
}

test("nobody is asked about before the time, nor twice within it", async () => {
  const watched = new Watched(new FakeSocket("alice"));
  watched.now += 9_999;
  expect(watched.revalidation.begin()).toBeNull();
  watched.now += 1;
  await watched.revalidation.begin();
  expect(watched.revalidation.begin()).toBeNull();
  watched.now += 10_000;
  await watched.revalidation.begin();
  expect(watched.asked).toEqual(["alice", "alice"]);
  expect(watched.rounds).toBe(2);
});

test("all are asked about in one question, each person once, however many sockets are theirs", async () => {
  const watched = new Watched(new FakeSocket("alice"), new FakeSocket("vic"), new FakeSocket("alice"));
  watched.now += 10_000;
  const round = watched.revalidation.begin();
  expect(watched.asked).toEqual(["alice,vic"]);
  expect(watched.rounds).toBe(0);
  await round;
  expect(watched.rounds).toBe(1);
});

test("while nobody watches nothing is asked, and the first who does need not wait for another interval", async () => {
  const gone = new FakeSocket("alice");
  const kept = gone.watcher;
  gone.watcher = null;
  const watched = new Watched(gone);
  watched.now += 10_000;
  expect(watched.revalidation.begin()).toBeNull();
  gone.watcher = kept;
  await watched.revalidation.begin();
  expect(watched.asked).toEqual(["alice"]);
});
