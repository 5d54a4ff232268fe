/**
 * A frame from a client, to the actor and back: `ack` with what REST would have answered, or a `problem`. The identity is
 * the attachment's, never the frame's; a frame about another conversation's run finds nothing, as over REST.
 */
import type { RequestContext } from "../protocol/principal.ts";
import { CLOSE } from "../protocol/frames.ts";
import { PROBLEM_TITLES } from "../protocol/problem-titles.ts";
import { problemOf, reject, type Rejection, type Result } from "../protocol/problems.ts";
import type { CommandAnswer, CommandRequest } from "../protocol/rpc.ts";
import type { ClientFrame } from "../protocol/commands.ts";
import { checkCommandScope } from "../protocol/scopes.ts";
import { langOf } from "../protocol/texts.ts";
import { commandOf, parseClientFrame, type CommandFrame } from "./client-frames.ts";
import { ackFrame, problemFrame } from "./encode-frames.ts";
import { closeSocket, contextOf, type SocketLike, type Watcher } from "./sockets.ts";

export interface Dispatching {
  readonly conversationId: string;
  /** `acknowledge` may be told the answer before the promise has it: before the events that led to it are sent. */
  readonly command: (
    context: RequestContext,
    request: CommandRequest,
    acknowledge: (answer: Acknowledged) => void,
  ) => Promise<Result<CommandAnswer>>;
  /** With a ticket for this very socket; what it is answered is acknowledged. Absent: no ticket is good here. */
  readonly refresh?: (ticket: string, watcher: Watcher) => Promise<Result<unknown>>;
  readonly failed: (error: unknown, watcher: Watcher) => void;
  /** Counts a frame that cannot be read. null: it is answered. Absent: nobody counts. */
  readonly wasted?: () => Rejection | null;
  /** Whether this person has been told to slow down so often that telling does not help. */
  readonly overdrawn?: () => boolean;
}

export async function dispatch(socket: SocketLike, message: string | ArrayBuffer, to: Dispatching): Promise<void> {
  const { watcher } = socket;
  if (!watcher) return;
  const inbound = parseClientFrame(message);
  if (!inbound.ok) {
    if ("close" in inbound) closeSocket(socket, inbound.close, inbound.reason);
    else refuse(socket, watcher, to.wasted?.() ?? inbound.rejection, inbound.id);
    return slowDown(socket, to);
  }
  const { frame } = inbound;
  let acknowledged = false;
  const acknowledge = ({ body, replayed }: Acknowledged) => {
    if (!acknowledged) say(socket, ackFrame(frame.id, body, replayed));
    acknowledged = true;
  };
  try {
    const answer = await answerTo(frame, watcher, to, acknowledge);
    if (answer.ok) acknowledge(answer.value);
    else refuse(socket, watcher, answer.rejection, frame.id);
    slowDown(socket, to);
  } catch (error) {
    to.failed(error, watcher);
    // What was acknowledged stands, whatever broke afterwards.
    if (acknowledged) return;
    refuse(socket, watcher, reject("internal", "Something broke; the same command may be sent again."), frame.id);
  }
}

const UNKNOWN_TICKET: Result<never> = { ok: false, rejection: reject("ticket_invalid", "No ticket is good here.") };
type Acknowledged = { readonly body: unknown; readonly replayed: boolean };

async function answerTo(
  frame: ClientFrame,
  watcher: Watcher,
  to: Dispatching,
  acknowledge: (answer: Acknowledged) => void,
): Promise<Result<Acknowledged>> {
  if (frame.type !== "refresh") return send(frame, contextOf(watcher), to, acknowledge);
  const refreshed = (await to.refresh?.(frame.ticket, watcher)) ?? UNKNOWN_TICKET;
  return refreshed.ok ? { ok: true, value: { body: refreshed.value, replayed: false } } : refreshed;
}

async function send(
  frame: CommandFrame,
  context: RequestContext,
  to: Dispatching,
  acknowledge: (answer: Acknowledged) => void,
): Promise<Result<CommandAnswer>> {
  const command = commandOf(frame);
  const refused = checkCommandScope(context, command);
  if (refused) return { ok: false, rejection: refused };
  const { idempotencyKey } = frame;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return to.command(context, { conversationId: to.conversationId, command, ...key }, acknowledge);
}

function slowDown(socket: SocketLike, { overdrawn }: Dispatching): void {
  if (overdrawn?.()) closeSocket(socket, CLOSE.slow, "too many frames");
}

function refuse(socket: SocketLike, watcher: Watcher, rejection: Rejection, id: string | undefined): void {
  const title = PROBLEM_TITLES[langOf(watcher.principal.locale)][rejection.code];
  say(socket, problemFrame(problemOf(rejection, watcher.requestId, title), id));
}

/** The watcher may have gone while its command ran; the command stands all the same. */
function say(socket: SocketLike, frame: string): void {
  try {
    socket.send(frame);
  } catch {
    closeSocket(socket, 1011, "sending failed");
  }
}
