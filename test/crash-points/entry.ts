/** The Worker as it is deployed, with a conversation object that a test can have killed at any seam. */
import { ConversationObject } from "../../src/conversation-object.ts";
import { platformOf } from "../../src/platform.ts";
import { armed, armedSocket, armFetch } from "./armed-platform.ts";
import { Fuse } from "./fuses.ts";

export * from "../../src/index.ts";
export { default } from "../../src/index.ts";
export { Mortal as ConversationObject };

armFetch();

// The access log of thousands of requests, each line of it a message to the test's own process.
const shown = console.log.bind(console);
console.log = (line: unknown, ...more: unknown[]) => {
  if (typeof line !== "string" || !line.startsWith('{"at":')) shown(line, ...more);
};

class Mortal extends ConversationObject {
  readonly #fuse: Fuse;

  constructor(ctx: DurableObjectState, env: Env) {
    const fuse = new Fuse(ctx);
    super(ctx, env, armed(platformOf(ctx, env), fuse));
    this.#fuse = fuse;
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    return super.webSocketMessage(armedSocket(socket, this.#fuse), message);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    super.webSocketClose(armedSocket(socket, this.#fuse), code, reason);
  }

  override async alarm(): Promise<void> {
    this.#fuse.at("alarm.fired");
    await super.alarm();
    this.#fuse.at("alarm.done");
  }
}
