import { expect, test } from "vitest";
import { platformSpans, type PlatformTracing } from "../../src/observe/platform-spans.ts";

/** The platform's tracing, which writes down what it is told; `broken` throws wherever it can. */
function platform(broken = false) {
  const told: unknown[] = [];
  const say = (what: unknown) => {
    told.push(what);
    if (broken) throw new Error("tracing is broken");
  };
  const tracing: PlatformTracing = {
    startActiveSpan: (name, callback) => {
      told.push(["start", name]);
      return callback({
        setAttributes: (attributes) => say(attributes),
        setStatus: (status) => say(status),
        end: () => say("end"),
      });
    },
  };
  return { told, spans: platformSpans(tracing) };
}

test("a span has its name and attributes, without those that are unknown, and ends with what runs in it", async () => {
  const { told, spans } = platform();
  const done = await spans.within("chat m", { a: 1, b: undefined }, async (span) => {
    span.set({ c: "x", d: undefined });
    span.fail("model_quota");
    return "done";
  });
  expect(done).toBe("done");
  expect(told).toEqual([
    ["start", "chat m"],
    { a: 1 },
    { c: "x" },
    { "error.type": "model_quota" },
    { code: "error", message: "model_quota" },
    "end",
  ]);
});

test("what throws inside is named by its class, ends its span, and is thrown on", async () => {
  const { told, spans } = platform();
  const failing = spans.within("x", {}, () => Promise.reject(new TypeError("secret words")));
  await expect(failing).rejects.toThrow("secret words");
  expect(told.slice(2)).toEqual([{ "error.type": "TypeError" }, { code: "error", message: "TypeError" }, "end"]);
  expect(JSON.stringify(told)).not.toContain("secret");
});

test("tracing that breaks, or that is not there, breaks nothing", async () => {
  const act = async (span: { fail(code: string): void }) => {
    span.fail("x");
    return 1;
  };
  expect(await platform(true).spans.within("x", { a: 1 }, act)).toBe(1);
  expect(await platformSpans(undefined).within("x", {}, act)).toBe(1);
});
