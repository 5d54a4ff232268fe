import { describe, expect, test } from "vitest";
import { outstanding } from "../../src/run/outstanding.ts";
import { type Driver, planned } from "./driver.ts";
import {
  DAY,
  doubtfulAnswer,
  failedAnswer,
  HOUR,
  idempotent,
  MINUTE,
  note,
  okAnswer,
  probeable,
  read,
  SECOND,
} from "./kit.ts";

const put = () => idempotent({ gate: null });
const order = () => probeable({ gate: null });
const absent = () => ({ kind: "absent" }) as const;
const hopeless = (id: string, tool: string) => doubtfulAnswer(id, tool, false);
const unsent = (id: string, tool: string) => failedAnswer(id, tool, "not_sent");
const reason = (driver: Driver) => driver.all("tool_call.became_unknown").at(-1)?.data.reason;
/** Attempts of the first call: how each was made, and how long it waits. */
const attempts = (driver: Driver) =>
  driver
    .all("tool_call.started")
    .map(({ at, data }) => [data.mode, data.notBefore ? Date.parse(data.notBefore) - Date.parse(at) : 0]);

describe("After a crash", () => {
  test("a read is tried again, three times in all, with back-off", () => {
    const driver = planned([read()]).crash();
    driver.crash();
    driver.wait(2 * SECOND).crash();
    expect(attempts(driver)).toEqual([
      ["execute", 0],
      ["execute", 0],
      ["execute", 2_000],
    ]);
    expect(driver.types).toEqual(["tool_call.finished", "step.started"]);
    expect(driver.event("tool_call.finished").data).toMatchObject({
      state: "failed",
      payload: { error: { code: "timeout" } },
    });
  });

  test("an idempotent call is repeated with the same key, three times, then it is unknown", () => {
    const driver = planned([put()]);
    for (let n = 0; n < 4; n++) driver.wait(10 * SECOND).crash();
    expect(driver.all("tool_call.started")).toHaveLength(4);
    expect(new Set(driver.all("tool_call.started").map(({ data }) => data.idempotencyKey)).size).toBe(1);
    expect(reason(driver)).toBe("attempts_exhausted");
    expect(driver.types).toEqual(["tool_call.became_unknown", "run.interrupted"]);
  });

  test("beyond the window in which the other side remembers the key it is unknown", () => {
    const driver = planned([idempotent({ gate: null, timeoutMs: 2 * HOUR, dedupeWindowMs: HOUR })], {
      limits: { maxRunMs: DAY },
    });
    driver.now += HOUR;
    driver.crash();
    expect(reason(driver)).toBe("window_passed");
  });

  test("a probeable call is asked about, by its key", () => {
    const driver = planned([order()]).crash();
    expect(attempts(driver)).toEqual([
      ["execute", 0],
      ["probe", 0],
    ]);
    driver.tool(1);
    expect(driver.calls()).toEqual(["succeeded"]);
  });

  test("what acts once is unknown, and waits for a person", () => {
    const driver = planned([note()]).crash();
    expect(driver.types).toEqual(["tool_call.became_unknown", "run.interrupted"]);
    expect(driver.event("run.interrupted").data).toMatchObject({ waitsFor: ["resolution"], needsConfirmation: false });
    expect(reason(driver)).toBe("interrupted");
  });

  test("a repeat that was still waiting had not been sent: it stays as it is", () => {
    const driver = planned([read()]).tool(1, doubtfulAnswer);
    driver.crash();
    expect(driver.types).toEqual([]);
    driver.wait(SECOND);
    expect(outstanding(driver.state, driver.now)).toMatchObject([{ attempt: 2, incarnation: 0 }]);
  });

  test("an outcome of the earlier life changes nothing but the record", () => {
    const driver = planned([put()]);
    const before = driver.toolEffect(1);
    driver.crash();
    driver.tool(1, okAnswer, before);
    expect(driver.types).toEqual(["tool_call.late_result"]);
    driver.tool(1, okAnswer, { ...driver.toolEffect(1), incarnation: 0 });
    expect(driver.calls()).toEqual(["executing"]);
  });
});

describe("An answer that proves nothing", () => {
  test("of a read: again after one and two seconds, then its own error", () => {
    const driver = planned([read()]).tool(1, doubtfulAnswer);
    expect(outstanding(driver.state, driver.now)).toEqual([]);
    expect(driver.status(1)).toBe("running");
    driver
      .wait(SECOND)
      .tool(1, doubtfulAnswer)
      .wait(2 * SECOND)
      .tool(1, doubtfulAnswer);
    expect(attempts(driver)).toEqual([
      ["execute", 0],
      ["execute", 1_000],
      ["execute", 2_000],
    ]);
    expect(driver.event("tool_call.finished").data.payload.error?.code).toBe("GATEWAY_UNAVAILABLE");
  });

  test("of a read: the waits are as long as the run's policy says", () => {
    const driver = planned([read()], { policy: { backoffMs: 40 } }).tool(1, doubtfulAnswer);
    driver.wait(40).tool(1, doubtfulAnswer).wait(79);
    expect(outstanding(driver.state, driver.now)).toEqual([]);
    driver.wait(1);
    expect(outstanding(driver.state, driver.now)).toMatchObject([{ kind: "tool", attempt: 3 }]);
  });

  test("of a read whose tool broke its contract: no second try", () => {
    expect(planned([read()]).tool(1, hopeless).calls()).toEqual(["failed"]);
  });

  test("of a call that acts once: unknown, with the error for people", () => {
    const driver = planned([note()]).tool(1, doubtfulAnswer);
    expect(driver.event("tool_call.became_unknown").data).toMatchObject({
      reason: "ambiguous",
      error: { code: "GATEWAY_UNAVAILABLE" },
    });
  });

  test.each([
    ["idempotent", put],
    ["probeable", order],
  ])("of an %s call that broke its contract: unknown at once", (_, call) => {
    const driver = planned([call()]).tool(1, hopeless);
    expect(driver.calls()).toEqual(["unknown"]);
  });

  test("a probe that finds the outcome settles the call, found refusals included", () => {
    expect(planned([order()]).crash().tool(1, okAnswer).calls()).toEqual(["succeeded"]);
    expect(planned([order()]).crash().tool(1, failedAnswer).calls()).toEqual(["failed"]);
  });

  test("a probe that finds nothing sends it again, with the same key; probes and repeats are three in all", () => {
    const driver = planned([order()]).crash().tool(1, absent);
    driver.crash();
    driver.wait(MINUTE - 1).tool(1, absent);
    expect(attempts(driver).map(([mode]) => mode)).toEqual(["execute", "probe", "execute", "probe"]);
    expect(reason(driver)).toBe("attempts_exhausted");
  });

  test("only a probe may say that nothing is there", () => {
    expect(planned([note()]).tool(1, absent).calls()).toEqual(["unknown"]);
    expect(planned([order()]).tool(1, absent).calls()).toEqual(["unknown"]);
  });

  test("a timed-out tool is the same as one that answered nothing", () => {
    const reading = planned([read()]).wait(MINUTE);
    expect(reading.types).toEqual(["tool_call.started"]);
    const acting = planned([note()]).wait(MINUTE);
    expect(reason(acting)).toBe("timeout");
    expect(planned([put()]).wait(MINUTE).types).toEqual(["tool_call.started"]);
    expect(planned([order()]).wait(MINUTE).event("tool_call.started").data.mode).toBe("probe");
  });
});

describe("A refusal", () => {
  test("of a first attempt is proof", () => {
    for (const answer of [failedAnswer, unsent]) expect(planned([note()]).tool(1, answer).calls()).toEqual(["failed"]);
  });

  test("after an attempt that may have acted is none", () => {
    const driver = planned([put()]).crash().tool(1, failedAnswer);
    expect(reason(driver)).toBe("ambiguous");
  });

  test("unless the tool answers for the key", () => {
    const driver = planned([idempotent({ gate: null, answersForKey: true })])
      .crash()
      .tool(1, failedAnswer);
    expect(driver.calls()).toEqual(["failed"]);
  });

  test("of a repeat that never left the house leads to another repeat", () => {
    const driver = planned([put()]).crash().tool(1, unsent);
    expect(driver.calls()).toEqual(["executing"]);
    expect(driver.call(1).attempt).toBe(3);
  });
});
