/** The cells of docs/state-table.md: how each phase is reached, and what each input is. Names as in the document. */
import { numberOf, runIdOf, runOf, toolCallIdOf } from "../../src/protocol/ids.ts";
import { outstanding } from "../../src/run/outstanding.ts";
import type { CallState } from "../../src/run/state.ts";
import { Driver, planned } from "./driver.ts";
import * as kit from "./kit.ts";

const operator = { ...kit.alice, scopes: [...kit.alice.scopes, "handover:operate"] };

function asking(): Driver {
  const driver = new Driver();
  driver.start();
  return driver;
}

/** Each ends in a conversation of alice's, with at most one run, and nothing due. */
export const PHASES: Readonly<Record<string, () => Driver>> = {
  idle: () => new Driver(),
  asking,
  "asking, another queued"() {
    const driver = asking();
    driver.start("second");
    return driver;
  },
  reading: () => planned([kit.read()]),
  acting: () => planned([kit.note()]),
  "backing off": () => planned([kit.read()]).tool(1, kit.doubtfulAnswer),
  "awaiting confirmation": () => planned([kit.transfer()]),
  "awaiting resolution": () => planned([kit.note()]).crash(),
  "awaiting continuation": () => planned([kit.read()], { policy: { onLimit: "ask" }, limits: { maxSteps: 1 } }).tool(1),
  "awaiting budget": () => asking().answer(kit.noBudgetOf()),
  "tenant paused"() {
    const driver = asking();
    driver.input({ type: "paused" });
    return driver.plan(kit.note());
  },
  "handed over"() {
    const driver = asking();
    driver.takeOver(operator);
    return driver;
  },
  settling() {
    const driver = planned([kit.note()]);
    driver.cancel();
    return driver;
  },
  completed: () => asking().final(),
  failed: () => asking().answer(kit.failedOf("model_overloaded")),
  "cancelled, a call unknown"() {
    const driver = planned([kit.note()]).crash();
    driver.cancel();
    return driver;
  },
  erased() {
    const driver = asking().final();
    driver.erase();
    return driver;
  },
};

/** The call that an input about calls means: the first that fits, else the first that there is, else one that is not. */
function aim(driver: Driver, fits: (call: CallState) => boolean): string {
  const calls = (driver.state.active ?? driver.state.latest)?.calls ?? [];
  return (calls.find(fits) ?? calls[0])?.id ?? toolCallIdOf(runIdOf(kit.CONVERSATION, 1), 1);
}

/** What was asked last: the request in flight, or one that nobody waits for any more. */
function model(driver: Driver, result: Parameters<Driver["answer"]>[0]): void {
  const asked = outstanding(driver.state, driver.now).find(({ kind }) => kind === "model");
  driver.answer(result, asked ?? { id: `${runIdOf(kit.CONVERSATION, 1)}.s1`, attempt: 1, incarnation: 0 });
}

function tool(driver: Driver, answer: Parameters<Driver["tool"]>[1]): void {
  const id = aim(driver, ({ state }) => state === "executing");
  driver.tool(id, answer, { id, attempt: 1, incarnation: 0 });
}

const waiting = ({ state }: CallState) => state === "awaiting_confirmation";
const unknown = ({ state }: CallState) => state === "unknown";
const queued = (driver: Driver) => driver.state.queue[0]?.n ?? 1;
const newest = (driver: Driver) => numberOf(runOf(aim(driver, () => true)));

export const INPUTS: Readonly<Record<string, (driver: Driver) => unknown>> = {
  start: (driver) => driver.start("next"),
  "start, reject": (driver) => driver.start("next", { whenBusy: "reject" }),
  "start, replace": (driver) => driver.start("next", { whenBusy: "replace" }),
  "start, no budget": (driver) => driver.start("next", { refused: kit.NO_BUDGET }),
  "edit input": (driver) => driver.editRun(queued(driver), "other"),
  drop: (driver) => driver.drop(queued(driver)),
  "model plans": (driver) => model(driver, kit.planOf([kit.read(), kit.transfer()])),
  "model answers": (driver) => model(driver, kit.finalOf("done")),
  "model answers nothing": (driver) => model(driver, kit.emptyOf()),
  "model fails": (driver) => model(driver, kit.failedOf("model_overloaded")),
  "model has no budget": (driver) => model(driver, kit.noBudgetOf()),
  "tool succeeds": (driver) => tool(driver, kit.okAnswer),
  "tool fails": (driver) => tool(driver, kit.failedAnswer),
  "tool says nothing certain": (driver) => tool(driver, kit.doubtfulAnswer),
  approve: (driver) => driver.approve(aim(driver, waiting)),
  reject: (driver) => driver.reject(aim(driver, waiting)),
  "edit, changed": (driver) =>
    driver.edit(aim(driver, waiting), {
      kind: "ready",
      args: {},
      argsDigest: kit.digest(),
      gate: kit.GATE,
      changed: true,
    }),
  happened: (driver) => driver.resolve(aim(driver, unknown), "happened"),
  "did not happen": (driver) => driver.resolve(aim(driver, unknown), "did_not_happen"),
  "give up": (driver) => driver.resolve(aim(driver, unknown), "give_up"),
  continue: (driver) => driver.continue("maxSteps", "continue"),
  stop: (driver) => driver.continue("maxSteps", "stop"),
  cancel: (driver) => driver.cancel(newest(driver)),
  retry: (driver) => driver.retry(newest(driver)),
  "ask for a person": (driver) => driver.takeOver(kit.alice),
  "take over": (driver) => driver.takeOver(operator),
  "say as operator": (driver) => driver.say("hello", operator),
  release: (driver) => driver.release(operator),
  wake: (driver) => driver.crash(),
  "next deadline": (driver) => (driver.toDeadline() ? driver : driver.wait(0)),
  deactivate: (driver) => driver.input({ type: "deactivated", userId: "alice" }),
  "tenant paused": (driver) => driver.input({ type: "paused" }),
  "tenant resumed": (driver) => driver.input({ type: "resumed" }),
  "budget raised": (driver) => driver.input({ type: "budget_changed" }),
  "budget warned": (driver) => driver.input({ type: "budget_warned", percent: 80, scope: "tenant.tokensPerHour" }),
  erase: (driver) => driver.erase(),
};

/** As the document writes it: the events in order, a refusal's code, or nothing. */
export function outcomeOf(phase: () => Driver, input: (driver: Driver) => unknown): string {
  const driver = phase();
  input(driver);
  driver.finish();
  const events = driver.types.map((type) => `\`${type}\``).join(", ");
  const refused = driver.rejection ? `refused: \`${driver.rejection.code}\`` : "";
  return [refused, events].filter((part) => part !== "").join("; ") || "nothing";
}
