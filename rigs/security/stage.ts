/**
 * The service as it is deployed, with everybody who takes part: a tenant whose conversation waits for a decision, people
 * with and without a place in it, another tenant, an identity provider, a model and a backend that book what reaches
 * them. Secrets and texts are marked, so that each can be looked for where it must not be.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationIdOf } from "../../src/protocol/ids.ts";
import type { Run } from "../../src/protocol/run.ts";
import { bundleInto } from "../../scripts/runtime/bundle.ts";
import { freePort, startRuntime, type Service } from "../../scripts/service.ts";
import type { Answer as ModelAnswer } from "../../test/support/answer-script.ts";
import { startFakeBackend, type FakeBackend } from "../../test/support/fake-backend.ts";
import { startFakeProvider, type FakeProvider } from "../../test/support/fake-provider.ts";
import { pause } from "../common/figures.ts";
import type { Who } from "./case.ts";
import type { Names } from "./fill.ts";
import { IDENTITIES, type Identity } from "./identities.ts";
import { AUDIENCE, ISSUER, startProvider, type Provider } from "./forge.ts";
import { exchange, type Answer } from "./wire.ts";

export const ORIGIN = "https://app.security.test";
/** Requests of one user in a minute: what a flood has to exceed, and the cases together do not. */
const RATE_USER = 1_200;
const PLACES = { editor: "editor", approver: "approver", second: "approver", viewer: "viewer", removed: "editor" };

const FOR_ONE: ModelAnswer = { fixture: "common_propose_transfer" };
const FOR_TWO: ModelAnswer = {
  toolCalls: [{ name: "transfer_by_two", arguments: { recipient_id: "r-1", amount_cents: 500 } }],
};

export interface Canaries {
  /** By what they are of; none of them may be found outside its place. */
  readonly secrets: Readonly<Record<string, string>>;
  /** By tenant: in every text that its people write. */
  readonly tenants: Readonly<Record<"acme" | "umbra", string>>;
}

export class Stage {
  readonly service: Service;
  readonly stateDir: string;
  readonly model: FakeProvider;
  readonly backend: FakeBackend;
  readonly identities: Provider;
  readonly canaries: Canaries;
  readonly tokens = new Map<Who, string>();
  /** Conversations that may still be on their way to rest, and to the history; and whose they are. */
  readonly unsettled = new Map<string, Who>();
  /** Names of what all cases share. */
  shared: Names = {};
  done: Names = {};

  private constructor(
    service: Service,
    stateDir: string,
    around: Pick<Stage, "model" | "backend" | "identities" | "canaries">,
  ) {
    this.service = service;
    this.stateDir = stateDir;
    this.model = around.model;
    this.backend = around.backend;
    this.identities = around.identities;
    this.canaries = around.canaries;
  }

  static async open(): Promise<Stage> {
    const dir = mkdtempSync(join(tmpdir(), "holdpoint-security-"));
    const stateDir = join(dir, "state");
    mkdirSync(stateDir);
    const secret = (name: string) => `sk-canary-${name}-not-a-secret-${randomBytes(16).toString("hex")}`;
    const canaries: Canaries = {
      secrets: { modelKey: secret("model"), masterKey: secret("master"), gatewayKey: secret("gateway") },
      tenants: { acme: `tcanary${randomBytes(8).toString("hex")}`, umbra: `tcanary${randomBytes(8).toString("hex")}` },
    };
    const [model, backend, identities] = await Promise.all([
      startFakeProvider({ timeScale: 0.1 }),
      startFakeBackend({ dedup: false }),
      startProvider(),
    ]);
    const service = await startRuntime({
      port: await freePort(),
      stateDir,
      bundleDir: await bundleInto(join(dir, "bundle")),
      rates: { user: RATE_USER, tenant: RATE_USER * 20 },
      vars: {
        JWKS_URL: identities.url,
        JWT_ISSUER: ISSUER,
        JWT_AUDIENCE: AUDIENCE,
        JWT_ALGORITHMS: "ES256,RS256",
        ALLOWED_ORIGINS: ORIGIN,
        HOLDPOINT_KEY: canaries.secrets["masterKey"] ?? "",
        OPENAI_API_KEY: canaries.secrets["modelKey"] ?? "",
        OPENAI_BASE_URL: model.baseUrl,
        LAB_BACKEND_URL: backend.url,
        PLANS_REST_KEY: canaries.secrets["gatewayKey"] ?? "",
        CANCEL_GRACE_MS: "500",
        BACKOFF_MS: "50",
        OUTBOX_MS: "100",
        COMMAND_BURST: "100",
        COMMANDS_PER_MINUTE: "600",
        WATCHDOG_MS: "1000",
        maxFirstByteMs: "2000",
        maxIdleMs: "2000",
      },
    });
    const stage = new Stage(service, stateDir, { model, backend, identities, canaries });
    for (const who of Object.keys(IDENTITIES) as Exclude<Who, "nobody">[]) {
      stage.tokens.set(who, await stage.#signIn(IDENTITIES[who]));
    }
    stage.shared = await stage.waiting();
    const other = await stage.waiting({ owner: "foreigner" });
    stage.shared = { ...stage.shared, theirs: other["conversation"] ?? "", theirRun: other["run"] ?? "" };
    stage.done = { ...stage.shared, ...(await stage.ended()) };
    return stage;
  }

  async close(): Promise<void> {
    await this.service.kill();
    await Promise.all([this.model.close(), this.backend.close(), this.identities.close()]);
  }

  identity(who: Exclude<Who, "nobody">): Identity {
    return IDENTITIES[who];
  }

  /** As one of the people, by the rules. */
  async ask(who: Who, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const token = this.tokens.get(who);
    const answer = await exchange({
      method,
      url: this.service.baseUrl + path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(method === "POST" ? { "idempotency-key": randomUUID() } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { ...answer, body: parsed(answer) };
  }

  /** A conversation whose run waits for a decision, with everybody in their places, and a second run in the queue. */
  async waiting(
    options: {
      readonly owner?: "owner" | "foreigner";
      readonly confirmationTtlMs?: number;
      /** Without a second run. */
      readonly alone?: boolean;
      /** For an act that two people must agree to. */
      readonly two?: boolean;
    } = {},
  ): Promise<Names> {
    const { owner = "owner", confirmationTtlMs, alone = false, two = false } = options;
    const made = await this.#converse(owner, [two ? FOR_TWO : FOR_ONE], confirmationTtlMs);
    const places = owner === "owner" ? (["editor", "approver", "second", "viewer", "removed"] as const) : [];
    for (const who of places) {
      const place = `/v1/conversations/${made.id}/participants/${IDENTITIES[who].userId}`;
      expectOk(await this.ask(owner, "PUT", place, { role: PLACES[who] }));
      if (who === "removed") expectOk(await this.ask(owner, "DELETE", place));
    }
    const startKey = randomUUID();
    const first = await this.start(owner, made.id, `pay them, ${this.#mark(owner)}`, startKey);
    const run = await this.settled(owner, first);
    const [call] = run.pending;
    const queued = alone ? "" : await this.start(owner, made.id, `and this, ${this.#mark(owner)}`);
    if (!call) throw new Error(`nothing waits: ${JSON.stringify(run)}`);
    return {
      ...this.#names(made),
      startKey,
      startText: `pay them, ${this.#mark(owner)}`,
      run: first,
      queued,
      call: call.id,
      digest: call.argsDigest,
    };
  }

  /** A conversation whose run has ended. */
  async ended(): Promise<Names> {
    const made = await this.#converse("owner", [{ fixture: "common_text" }]);
    const place = `/v1/conversations/${made.id}/participants/${IDENTITIES.second.userId}`;
    expectOk(await this.ask("owner", "PUT", place, { role: PLACES.second }));
    const run = await this.start("owner", made.id, `hello, ${this.canaries.tenants.acme}`);
    await this.settled("owner", run);
    return { ...this.#names(made), run };
  }

  /** A conversation of its own for a talk, with its script. @returns its id */
  async scripted(who: Who, model: readonly ModelAnswer[], limits?: Readonly<Record<string, number>>): Promise<string> {
    return (await this.#converse(who, model, undefined, limits)).id;
  }

  async start(who: Who, conversation: string, text: string, key: string = randomUUID()): Promise<string> {
    const path = `/v1/conversations/${conversation}/runs`;
    const answer = await this.ask(who, "POST", path, { input: { text } }, { "idempotency-key": key });
    expectOk(answer);
    return String(answer.body["id"]);
  }

  /** The run, once it waits or has ended. */
  async settled(who: Who, run: string): Promise<Run> {
    for (let tries = 0; tries < 500; tries++) {
      const { body } = await this.ask(who, "GET", `/v1/runs/${run}`);
      if (!["queued", "running"].includes(String(body["status"]))) return body as unknown as Run;
      await pause(20);
    }
    throw new Error(`${run} does not come to rest`);
  }

  scopeOf(conversation: string): string {
    return this.#scopes.get(conversation) ?? "";
  }

  readonly #scopes = new Map<string, string>();

  #mark(who: Who): string {
    return this.canaries.tenants[who === "foreigner" ? "umbra" : "acme"];
  }

  #names({ id, headCursor }: { readonly id: string; readonly headCursor: string }): Names {
    const unknown = conversationIdOf(new Uint8Array(randomBytes(16)));
    const token = (who: Who) => this.tokens.get(who) ?? "";
    return {
      conversation: id,
      generation: headCursor.split(".")[0] ?? "",
      unknown,
      origin: ORIGIN,
      base: this.service.baseUrl,
      token: token("owner"),
      strangersToken: token("stranger"),
      mark: this.canaries.tenants.acme,
      theirMark: this.canaries.tenants.umbra,
    };
  }

  async #converse(
    who: Who,
    model: readonly ModelAnswer[],
    confirmationTtlMs?: number,
    limits?: Readonly<Record<string, number>>,
  ): Promise<{ readonly id: string; readonly headCursor: string }> {
    const scope = `security-${randomUUID()}`;
    this.model.script({ scope, queue: model, default: { fixture: "common_text" } });
    const metadata = {
      model: scope,
      ...(confirmationTtlMs === undefined ? {} : { confirmationTtlMs: String(confirmationTtlMs) }),
      ...(limits === undefined ? {} : { limits: JSON.stringify(limits) }),
    };
    const answer = await this.ask(who, "POST", "/v1/conversations", { agent: "lab", title: this.#mark(who), metadata });
    expectOk(answer);
    const id = String(answer.body["id"]);
    this.#scopes.set(id, scope);
    this.unsettled.set(id, who);
    return { id, headCursor: String(answer.body["headCursor"]) };
  }

  async #signIn({ userId, tenantId, scopes, roles = [] }: Identity): Promise<string> {
    const answer = await exchange({
      method: "POST",
      url: `${this.service.baseUrl}/dev/token`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ userId, tenantId, scopes, roles, ttlSeconds: 7_200 }),
    });
    expectOk(answer);
    return String(parsed(answer)["token"]);
  }
}

export function parsed({ text }: Pick<Answer, "text">): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function expectOk({ status, text }: Answer): void {
  if (status < 200 || status > 299) throw new Error(`the stage could not be set: ${status} ${text.slice(0, 500)}`);
}
