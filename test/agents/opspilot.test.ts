import { describe, expect, test } from "vitest";
import { asD1 } from "../tools/sqlite-d1.ts";
import { payloadOf } from "./agent-house.ts";
import { MINUTE, opsHouse, OPS_SCOPES } from "./ops-house.ts";

type Answer = Parameters<typeof payloadOf>[0];
const data = (answer: Answer) => payloadOf(answer).data as Record<string, unknown>;
const healthOf = (answer: Answer, id = "checkout") =>
  (data(answer)["services"] as { id: string; health: string }[]).find((one) => one.id === id)?.health;
const FIX = { service_id: "checkout", key: "cache_max_mb", value: 128 };

test("the story: it fails, the logs say why, a restart mends it for a while, the setting for good", async () => {
  const { as, clock } = await opsHouse();
  const user = as();
  expect(healthOf(await user.act("list_services", {}))).toBe("failing");
  const { lines } = data(await user.act("read_logs", { service_id: "checkout" }));
  expect(JSON.stringify(lines)).toContain("cache_max_mb is 0: the cache has no bound (recommended: 128)");

  const restart = await user.ready("restart_service", { service_id: "checkout" });
  clock.now += 2 * MINUTE;
  expect(data(await user.execute(restart))).toMatchObject({ id: "checkout", health: "healthy", boot: 2 });
  clock.now += 30 * MINUTE;
  expect(healthOf(await user.act("list_services", {}))).toBe("failing");

  await user.act("restart_service", { service_id: "checkout" });
  expect(data(await user.act("set_config", FIX))).toMatchObject({ before: 0, after: 128, version: 2 });
  clock.now += 1_000 * MINUTE;
  expect(healthOf(await user.act("list_services", {}))).toBe("healthy");
  expect(healthOf(await user.act("list_services", {}), "web")).toBe("healthy");
});

describe("restart_service", () => {
  test("shows what it will interrupt, and waits for a yes", async () => {
    const { as } = await opsHouse();
    expect(
      await as({ locale: "zh" }).ready("restart_service", { service_id: "checkout", reason: "内存用尽" }),
    ).toMatchObject({
      effect: "once",
      title: "重启服务",
      gate: { quorum: 1 },
      expect: { boot: 1 },
      preview: {
        reversible: false,
        rows: [
          { label: "服务", value: "结账（checkout）" },
          { label: "状态", before: "故障", after: "正在重启" },
          { label: "运行起始" },
          { label: "中断时间", value: "最多 6 秒" },
          { label: "原因", value: "内存用尽" },
        ],
      },
    });
  });

  test("answers when the service is up again, not when it was told to start", async () => {
    const { as, clock } = await opsHouse();
    const before = clock.now;
    const answer = await as().act("restart_service", { service_id: "checkout" });
    expect(payloadOf(answer)).toMatchObject({
      success: true,
      displayText: "Restarted Checkout (checkout); it is healthy.",
    });
    expect(clock.now - before).toBeGreaterThanOrEqual(3_000);
    expect(clock.waits).toBeGreaterThan(1);
  });

  test("stopped while it waits, it does not say that it failed; sent again, it is the same restart", async () => {
    const { as, clock, count } = await opsHouse();
    const user = as();
    const call = await user.ready("restart_service", { service_id: "checkout" });
    const cut = new AbortController();
    clock.onWait = () => cut.abort();
    expect(await user.execute(call, { signal: cut.signal })).toMatchObject({ kind: "ambiguous", reason: "cancelled" });
    expect(count("service_restarts")).toBe(1);
    clock.onWait = () => {};
    expect(await user.execute(call, { attempt: 2 })).toMatchObject({ kind: "ok", payload: { data: { boot: 2 } } });
    clock.now += 40 * MINUTE;
    expect(await user.execute(call, { attempt: 3 })).toMatchObject({
      kind: "ok",
      payload: { data: { boot: 2, health: "failing" } },
    });
    expect(count("service_restarts")).toBe(1);
  });

  test("is refused when somebody else has restarted it since it was shown", async () => {
    const { as, count } = await opsHouse();
    const user = as();
    const call = await user.ready("restart_service", { service_id: "checkout" });
    await as({ userId: "user-b" }).act("restart_service", { service_id: "checkout" });
    expect(await user.execute(call)).toMatchObject({
      kind: "failed",
      proof: "definitive",
      payload: { error: { code: "changed_since_shown" } },
    });
    expect(count("service_restarts")).toBe(1);
  });
});

describe("set_config", () => {
  test("shows before and after, and binds the version that was shown", async () => {
    const { as } = await opsHouse();
    expect(await as().ready("set_config", { ...FIX, value: "128 MB" })).toMatchObject({
      effect: "idempotent",
      args: FIX,
      expect: { version: 1 },
      preview: {
        reversible: true,
        rows: [
          { label: "Setting", value: "checkout.cache_max_mb" },
          { label: "Value", before: "0 MB", after: "128 MB" },
          { label: "Recommended", value: "128 MB" },
        ],
      },
    });
  });

  test("refuses when the setting has changed since it was shown, even back to the same value", async () => {
    const { as, count } = await opsHouse();
    const user = as();
    const call = await user.ready("set_config", FIX);
    await user.act("set_config", { ...FIX, value: 64 });
    await user.act("set_config", { ...FIX, value: 0 });
    expect(await user.execute(call)).toMatchObject({
      kind: "failed",
      payload: {
        error: { code: "changed_since_shown" },
        displayText: "The target has changed since it was shown; nothing was done.",
      },
    });
    expect(count("setting_changes")).toBe(2);
  });

  test("sent again it changes nothing and says the same, whatever has become of the setting", async () => {
    const { as, count } = await opsHouse();
    const user = as();
    const call = await user.ready("set_config", FIX);
    const first = await user.execute(call);
    expect(payloadOf(first).displayText).toBe("Set checkout.cache_max_mb from 0 MB to 128 MB.");
    await user.act("set_config", { ...FIX, value: 64 });
    expect(await user.execute(call, { attempt: 2 })).toEqual(first);
    expect(data(await user.act("get_service", { service_id: "checkout" }))["settings"]).toMatchObject([
      { name: "cache_max_mb", value: 64, version: 3 },
      { name: "timeout_ms", value: 2_000, version: 1 },
    ]);
    expect(count("setting_changes")).toBe(2);
    expect(JSON.stringify(first)).not.toContain(call.idempotencyKey);
  });

  test.each([
    ["a setting that the service does not have", { ...FIX, key: "constructor" }, "unknown_setting"],
    ["a value beyond its bounds", { ...FIX, value: 1_000_000 }, "value_out_of_range"],
    ["a value that is no number", { ...FIX, value: "lots" }, "invalid_arguments"],
    ["a service that there is not", { ...FIX, service_id: "__proto__" }, "not_found"],
  ])("refuses %s before anybody is asked", async (_, args, code) => {
    const { as } = await opsHouse();
    expect(await as().prepare("set_config", args)).toMatchObject({ kind: "refused", payload: { error: { code } } });
  });
});

describe("open_incident", () => {
  const ARGS = { service_id: "checkout", severity: "high", title: "Out of memory" };

  test("asks when it calls people, and only then", async () => {
    const user = (await opsHouse()).as();
    expect((await user.ready("open_incident", ARGS)).gate).toMatchObject({ quorum: 1 });
    expect((await user.ready("open_incident", { ...ARGS, severity: "low" })).gate).toBeNull();
  });

  test("is opened once, found by its key, and counted within the tenant", async () => {
    const { as } = await opsHouse();
    const user = as();
    const call = await user.ready("open_incident", ARGS);
    expect(await user.execute(call, { mode: "probe" })).toEqual({ kind: "absent" });
    const first = await user.execute(call);
    expect(data(first)).toMatchObject({ id: "INC-1001", severity: "high" });
    expect(await user.execute(call, { attempt: 2 })).toEqual(first);
    expect(await user.execute(call, { mode: "probe" })).toMatchObject({
      kind: "ok",
      payload: { data: { id: "INC-1001" } },
    });
    expect(data(await user.act("open_incident", ARGS))).toMatchObject({ id: "INC-1002" });
    expect(data(await as({ tenantId: "t2" }).act("open_incident", ARGS))).toMatchObject({ id: "INC-1001" });
    expect(data(await user.act("get_service", { service_id: "checkout" }))["incidents"]).toMatchObject([
      { id: "INC-1002" },
      { id: "INC-1001" },
    ]);
  });
});

test("each tenant has a fleet of its own; within one, colleagues see the same", async () => {
  const { as } = await opsHouse();
  await as().act("restart_service", { service_id: "checkout" });
  expect(healthOf(await as({ userId: "user-b" }).act("list_services", {}))).toBe("healthy");
  expect(healthOf(await as({ tenantId: "t2" }).act("list_services", { tenant_id: "t1" }))).toBe("failing");
});

test("looking a fleet up does not make it anew", async () => {
  const { as, clock, count } = await opsHouse();
  const first = data(await as().act("get_service", { service_id: "search" }));
  clock.now += 5 * MINUTE;
  const second = data(await as().act("get_service", { service_id: "search" }));
  expect([second["startedAt"], second["boot"]]).toEqual([first["startedAt"], first["boot"]]);
  expect(count("services")).toBe(4);
});

test("acting needs its scope, looking none", async () => {
  const user = (await opsHouse()).as({ scopes: [] });
  for (const [tool, args] of [
    ["restart_service", { service_id: "checkout" }],
    ["set_config", FIX],
    ["open_incident", { service_id: "checkout", severity: "low", title: "x" }],
  ] as const) {
    expect(await user.prepare(tool, args)).toMatchObject({
      kind: "refused",
      payload: { error: { code: "scope_missing" } },
    });
  }
  expect(healthOf(await user.act("list_services", {}))).toBe("failing");
});

test("logs are read from a level on, the latest ones", async () => {
  const user = (await opsHouse()).as();
  const { lines, more } = data(await user.act("read_logs", { service_id: "checkout", level: "error", limit: 2 }));
  expect(more).toBe(true);
  expect((lines as { level: string }[]).map(({ level }) => level)).toEqual(["error", "error"]);
  const info = data(await user.act("read_logs", { service_id: "mailer", level: "info" }));
  expect(JSON.stringify(info["lines"])).toContain("served");
});

test("in Chinese, people read Chinese", async () => {
  const user = (await opsHouse()).as({ locale: "zh-CN" });
  const said = async (tool: string, args: object) => payloadOf(await user.act(tool, args)).displayText;
  expect(await said("list_services", {})).toBe(
    "店面（web）：变慢；结账（checkout）：故障；搜索（search）：正常；邮件（mailer）：正常。",
  );
  expect(await said("restart_service", { service_id: "checkout" })).toBe("已重启结账（checkout），现在正常。");
  expect(await said("set_config", FIX)).toBe("已将 checkout.cache_max_mb 从 0 MB 改为 128 MB。");
  expect(await said("open_incident", { service_id: "checkout", severity: "high", title: "内存用尽" })).toBe(
    "已创建 INC-1001：内存用尽",
  );
});

describe("a store that does not answer", () => {
  const silent = {
    prepare: () => ({ bind: () => ({}) }),
    batch: () => Promise.reject(new Error("D1_ERROR: secret host")),
  } as unknown as D1Database;

  test("leaves it open whether an act happened, and tells no cause", async () => {
    const { as } = await opsHouse();
    const call = await as().ready("set_config", FIX);
    const broken = (await opsHouse(silent)).as();
    expect(await broken.prepare("set_config", FIX)).toMatchObject({ payload: { error: { code: "preview_failed" } } });
    const answer = await broken.act("list_services", {});
    expect(answer).toMatchObject({ payload: { error: { code: "FLEET_UNAVAILABLE", retryable: true } } });
    expect(JSON.stringify([answer, await broken.execute(call)])).not.toContain("secret");
  });

  test("an answer that is lost after the act is ambiguous, and the repeat finds it", async () => {
    const house = await opsHouse();
    const call = await house.as().ready("set_config", FIX);
    const { db } = house;
    const real = asD1(db);
    let lost = false;
    const losing = {
      prepare: (sql: string) => real.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        const answers = await real.batch(statements);
        if (statements.length === 3 && !lost) {
          lost = true;
          throw new Error("connection lost");
        }
        return answers;
      },
    } as unknown as D1Database;
    const user = (await opsHouse(losing)).as({ scopes: OPS_SCOPES });
    expect(await user.execute(call)).toMatchObject({ kind: "ambiguous", error: { code: "FLEET_UNAVAILABLE" } });
    expect(await user.execute(call, { attempt: 2 })).toMatchObject({ kind: "ok", payload: { data: { version: 2 } } });
    expect(house.count("setting_changes")).toBe(1);
  });
});
