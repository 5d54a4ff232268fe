/** A transfer that was agreed to, at a backend that misbehaves. */
import type { Run } from "../../../src/protocol/run.ts";
import type { ToolCall } from "../../../src/protocol/tool-call.ts";
import type { Fault } from "../../support/backend-faults.ts";
import { backend } from "./fakes.ts";
// What the backend is told to do wrong, the service may complain of.
import "./life.ts";
import { calledOf } from "./sockets-to.ts";
import { Talk } from "./talk.ts";

type Transfer = "transfer" | "transfer_idempotent" | "transfer_probeable";

export interface Acting {
  readonly talk: Talk;
  readonly run: Run;
  readonly call: ToolCall;
}

/** A transfer that was agreed to, at a backend with this fault; limits for the run. */
export async function acting(
  tool: Transfer,
  fault: Omit<Fault, "route" | "match">,
  maxToolMs = 60_000,
): Promise<Acting> {
  const recipient_id = `r-${crypto.randomUUID()}`;
  await backend.fault({ ...fault, route: "POST /transfer", match: { recipient_id } });
  const answers = [{ toolCalls: [{ name: tool, arguments: { recipient_id, amount_cents: 500 } }] }];
  const talk = await Talk.open({ answers, limits: { maxToolMs } });
  const { run, calls } = await talk.ask();
  const [call] = calls;
  if (!call) throw new Error("nothing was asked");
  await talk.decide(run, call, "approve");
  return { talk, run, call };
}

/** Short where a time-out is what the case is about; else so long that a busy machine makes none. */
export const toolMsFor = (fault: object): number => ("answerAt" in fault ? 1_000 : 60_000);

export const unknown = ({ talk, run }: Acting) =>
  talk.watcher.until("the doubt", () => talk.watcher.event("tool_call.became_unknown", run.id));

export const keysOf = async ({ talk }: Acting) =>
  new Set((await calledOf(talk)).flatMap((one) => one.idempotencyKey ?? []));
export const posts = async ({ talk }: Acting) => (await calledOf(talk)).filter(({ method }) => method === "POST");
export const attempts = ({ talk, run }: Acting) =>
  talk.of("tool_call.started", run).map(({ data: { mode, attempt } }) => [mode, attempt]);
