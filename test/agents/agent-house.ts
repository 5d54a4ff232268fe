/** A real agent with its real preparation and execution, on given variables and a given database. */
import { deriveKey } from "../../src/effects/derive-key.ts";
import { ToolExecution } from "../../src/effects/execute-call.ts";
import { OUTSIDE_KEY_PURPOSE } from "../../src/effects/outside-key.ts";
import { Preparation } from "../../src/effects/preparation.ts";
import { ToolCatalogue } from "../../src/effects/tool-catalogue.ts";
import { toolSettings } from "../../src/effects/tool-settings.ts";
import { availableAgents } from "../../src/agents/registry.ts";
import type { Clock, Log } from "../../src/actor/ports.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import type { ToolResult } from "../../src/protocol/tool-result.ts";
import type { PreparedCall, ToolAnswer } from "../../src/run/inputs.ts";
import type { CallState } from "../../src/run/state.ts";
import { callOf, principal, runOf, RUN, stateOf } from "../effects/tools/house.ts";
import { toolCallIdOf } from "../../src/protocol/ids.ts";

const clock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
const log: Log = { info: () => {}, warn: () => {}, error: () => {} };

export interface HouseOptions {
  readonly agent: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly app?: D1Database;
  readonly fetch?: typeof fetch;
  /** Absent: each look at the clock is a second later. */
  readonly now?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export async function agentHouse({
  agent,
  variables = {},
  app = {} as D1Database,
  fetch: fetcher = fetch,
  now,
  wait,
}: HouseOptions) {
  const variable = (name: string) => variables[name];
  let time = 1_700_000_000_000;
  const clocks = { now: now ?? (() => (time += 1_000)), ...(wait === undefined ? {} : { wait }) };
  const environment = { app, fetch: fetcher, variable, ...clocks };
  const catalogue = new ToolCatalogue(availableAgents(variable).values(), environment);
  const settings = toolSettings({ model: "m" });
  const key = await deriveKey("a master secret", OUTSIDE_KEY_PURPOSE);
  const preparation = new Preparation(catalogue, { clock, log, settings, key });
  const execution = new ToolExecution(catalogue, { clock, log, settings });
  const state = stateOf(agent);
  let calls = 0;

  const as = (who: Partial<Principal> = {}) => {
    const run = runOf({ principal: principal({ scopes: ["plans:write", "lab:transfer"], ...who }) });
    const prepare = async (name: string, args: unknown): Promise<PreparedCall> => {
      const decoded = [{ providerId: null, name, arguments: JSON.stringify(args) }];
      const io = { state, signal: new AbortController().signal };
      const [call] = await preparation.calls({ run, firstCall: ++calls }, io, decoded);
      if (!call) throw new Error("nothing was prepared");
      return call;
    };
    const ready = async (name: string, args: unknown): Promise<CallState> => {
      const call = await prepare(name, args);
      if (call.kind === "refused") throw new Error(`refused: ${JSON.stringify(call.payload.error)}`);
      return callOf(call, { id: toolCallIdOf(RUN, calls) });
    };
    const execute = async (
      call: CallState,
      more: { mode?: "probe"; attempt?: number; signal?: AbortSignal } = {},
    ): Promise<ToolAnswer> => {
      const { mode = "execute", attempt = 1, signal = new AbortController().signal } = more;
      const effect = {
        kind: "tool",
        id: call.id,
        attempt,
        incarnation: 1,
        run,
        call,
        mode,
        deadlineAt: clock.now() + call.timeoutMs,
      } as const;
      return (await execution.call(effect, { state, signal, authHeader: null })).result;
    };
    /** Prepared, approved as it is, executed. */
    const act = async (name: string, args: unknown): Promise<ToolAnswer> => execute(await ready(name, args));
    return { prepare, ready, execute, act };
  };
  return { catalogue, preparation, execution, as };
}

export const payloadOf = (answer: ToolAnswer): ToolResult => {
  if (answer.kind === "absent") throw new Error("absent");
  return answer.payload;
};
