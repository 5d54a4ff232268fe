import { expect, it } from "vitest";
import { chatBody, postJson, readSse, user } from "./calls.ts";
import { startFakeBackend, type Arrival } from "./fake-backend.ts";
import { startFakeProvider, type Written } from "./fake-provider.ts";
import { until } from "./wire.ts";

const PAY = { recipient_id: "r-1", amount_cents: 500 };

it("a rig is told of an arrival before the effect and of the effect before the answer", async () => {
  const told: string[] = [];
  const tell = (when: string) => (arrival: Arrival) => {
    told.push(`${when} ${arrival.route} ${arrival.idempotencyKey} ${backend.ledger().rawEffects}`);
  };
  const backend = await startFakeBackend({ onArrival: tell("arrival"), beforeAnswer: tell("answer") });
  try {
    await postJson(`${backend.url}/transfer`, PAY, { "idempotency-key": "k1" });
    expect(told).toEqual(["arrival /transfer k1 0", "answer /transfer k1 1"]);
  } finally {
    await backend.close();
  }
});

it("a sender that dies on arrival has done nothing; one that dies before the answer has", async () => {
  let dies: "arrival" | "answer" = "arrival";
  let sender = new AbortController();
  const die = (when: typeof dies) => async () => {
    if (dies !== when) return;
    sender.abort();
    await until(() => backend.stats().abortedByClient === (when === "arrival" ? 1 : 2), "the cut");
  };
  const backend = await startFakeBackend({ onArrival: die("arrival"), beforeAnswer: die("answer") });
  const pay = () => postJson(`${backend.url}/transfer`, PAY, { "idempotency-key": dies }, sender.signal);
  try {
    await expect(pay()).rejects.toThrow("aborted");
    await until(() => backend.stats().inFlight === 0, "its end");
    expect(backend.ledger().rawEffects).toBe(0);
    dies = "answer";
    sender = new AbortController();
    await expect(pay()).rejects.toThrow("aborted");
    await until(() => backend.stats().inFlight === 0, "its end");
    expect(backend.ledger().byKey).toEqual({ answer: 1 });
    expect(backend.requests().at(-1)).toMatchObject({ committed: true, status: null, endedBy: "client" });
  } finally {
    await backend.close();
  }
});

it("an answer may follow from the request, and each of its writes is told", async () => {
  const written: Written[] = [];
  const provider = await startFakeProvider({
    respond: (scope, { messages }) =>
      scope === "mine" ? { text: `${JSON.stringify(messages).includes("ping") ? "pong" : "what?"} it is` } : undefined,
    onWrite: (one) => written.push(one),
  });
  const chat = async (model: string, text: string) => {
    const response = await postJson(`${provider.baseUrl}/chat/completions`, chatBody(model, [user(text)]));
    return readSse(await response.text()).content;
  };
  try {
    provider.script({ scope: "mine", default: { text: "the script" } });
    expect(await chat("mine", "ping")).toBe("pong it is");
    expect(written.map(({ n, of, kind }) => `${kind} ${n}/${of}`)).toEqual(
      Array.from({ length: 6 }, (_, i) => `text ${i + 1}/6`),
    );
    expect(await chat("another", "ping")).toBe("Hello from the fake provider.");
  } finally {
    await provider.close();
  }
});
