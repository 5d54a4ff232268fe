import { describe, expect, test } from "vitest";
import { planned } from "./driver.ts";
import { alice, carol, transfer } from "./kit.ts";

describe("A yes is asked again before the act", () => {
  test("of somebody who has lost his place since, it is worth nothing", () => {
    const driver = planned([transfer(), transfer()]);
    driver.approve(1, carol);
    driver.command({ type: "remove_participant", userId: "carol", body: {} }, alice);
    driver.approve(2, alice);
    expect(driver.call(1).state).toBe("failed");
    expect(driver.call(2).state).toBe("executing");
  });

  test("of somebody who is still there, it starts the call", () => {
    const driver = planned([transfer(), transfer()]);
    driver.approve(1, carol);
    driver.approve(2, alice);
    expect(driver.call(1).state).toBe("executing");
  });
});

test("a continuation for a run that ended long ago tells a stranger to it nothing", () => {
  const driver = planned([transfer()]);
  driver.cancel();
  const first = driver.state.latest?.id ?? "";
  driver.start();
  driver.cancel();
  const asked = { continuations: [{ limit: "maxSteps", decision: "stop" } as const] };
  const refused = driver.command({ type: "resume", runId: first, body: asked }, carol);
  expect(refused?.code).toBe("forbidden");
});
