import { DurableObject } from "cloudflare:workers";

export class ConversationObject extends DurableObject<Env> {}
