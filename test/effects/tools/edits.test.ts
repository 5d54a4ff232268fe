import * as z from "zod";
import { expect, test } from "vitest";
import { callOf, house, runOf } from "./house.ts";
import { tool, type Definition } from "./preparing.ts";

test("an edit is prepared like a call, and is exact when nothing was made of what was typed", async () => {
  const { ready, preparation, state } = await house([tool()]);
  const call = callOf(await ready("act", { title: "a" }));
  const exact = await preparation.edit(state, runOf(), call, { title: "b", n: 2 });
  expect(exact).toMatchObject({ kind: "ready", args: { title: "b", n: 2 }, changed: false, gate: call.gate });
  expect(exact.kind === "ready" && exact.argsDigest).toBe((await ready("act", { title: "b", n: 2 })).argsDigest);
  expect(await preparation.edit(state, runOf(), call, { title: " b" })).toMatchObject({
    args: { title: "b" },
    changed: true,
  });
  expect(await preparation.edit(state, runOf(), call, { title: "" })).toMatchObject({
    kind: "refused",
    pointer: "/title",
  });
  expect(await preparation.edit(state, runOf(), call, ["b"])).toMatchObject({ kind: "refused" });
});

test("an edit has to be seen again when policy then asks for more, or when the target has moved", async () => {
  let version = 1;
  const confirm: Definition["confirm"] = ({ n = 0 }) => (n > 3 ? { quorum: 2 } : true);
  const preview = () => ({ rows: [], expect: { version } });
  const { ready, preparation, state } = await house([tool({ confirm, preview })]);
  const call = callOf(await ready("act", { title: "a", n: 1 }));
  expect(await preparation.edit(state, runOf(), call, { title: "a", n: 2 })).toMatchObject({ changed: false });
  expect(await preparation.edit(state, runOf(), call, { title: "a", n: 9 })).toMatchObject({
    changed: true,
    gate: { quorum: 2 },
  });
  version = 2;
  expect(await preparation.edit(state, runOf(), call, { title: "a", n: 2 })).toMatchObject({
    changed: true,
    expect: { version: 2 },
  });
});

test("an edit that needs no yes by itself keeps the question that was asked", async () => {
  const { ready, preparation, state } = await house([tool({ confirm: ({ n = 0 }) => n > 3 })]);
  const call = callOf(await ready("act", { title: "a", n: 9 }));
  expect(await preparation.edit(state, runOf(), call, { title: "a", n: 1 })).toMatchObject({
    gate: call.gate,
    changed: false,
  });
});

test("a person's result must be what the tool itself would have answered", async () => {
  const output = z.object({ id: z.string() });
  const { ready, preparation, state } = await house([{ ...tool(), output } as never]);
  const call = callOf(await ready("act", { title: "a" }));
  expect(preparation.result(state, runOf(), call, { id: "7" })).toMatchObject({
    success: true,
    source: "person",
    data: { id: "7" },
    displayText: "Act: done.",
  });
  expect(preparation.result(state, runOf(), call, { id: 7 })).toEqual({ invalid: expect.stringContaining("id: ") });
  expect(preparation.result(state, runOf(), call, { id: "x".repeat(20_000) })).toEqual({
    invalid: "The result is too long.",
  });
});
