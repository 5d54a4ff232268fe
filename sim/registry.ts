/** The tenant's register of keys: the real one, at the end of a network that loses calls and answers. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Claim, KeyRegistry } from "../src/actor/tenant-ports.ts";
import { Registry } from "../src/tenant/registry.ts";
import type { Kernel } from "./kernel.ts";
import type { LifePort } from "./life-port.ts";
import type { Random } from "./random.ts";

/** One register for all schedules: keys carry their schedule's seed. */
export function newRegister(): Registry {
  const sqlite = new DatabaseSync(":memory:");
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text) ?? sqlite.prepare(text);
    statements.set(text, known);
    return known;
  };
  const sql = {
    exec: (text: string, ...params: (string | number | null | ArrayBuffer)[]) => {
      const rows =
        params.length === 0 && text.includes(";")
          ? (sqlite.exec(text), [])
          : prepared(text).all(...params.map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : one)));
      return { toArray: () => rows };
    },
  };
  return new Registry(sql, 0);
}

export interface RegisterDeps {
  readonly kernel: Kernel;
  readonly register: Registry;
  readonly random: Random;
  /** How likely a call is lost, before or after it was done. */
  readonly lost: number;
  readonly struck: (kind: string) => void;
}

export class SimRegister {
  readonly #deps: RegisterDeps;
  calm = false;

  constructor(deps: RegisterDeps) {
    this.#deps = deps;
  }

  port(port: LifePort): KeyRegistry {
    const { kernel, register } = this.#deps;
    return {
      claim: (tenantId, claim) => this.#call(port, () => register.claim(keyed(tenantId, claim), kernel.now)),
      release: (tenantId, claim) => this.#call(port, () => register.release(keyed(tenantId, claim), kernel.now)),
    };
  }

  #call<T>(port: LifePort, run: () => T): Promise<T> {
    const { kernel, random, lost, struck } = this.#deps;
    return new Promise((resolve, reject) => {
      port.gate(() => {
        const fate = this.calm || !random.chance(lost) ? "fine" : random.pick(["before", "after"]);
        if (fate !== "fine") struck(`register_lost_${fate}`);
        kernel.after(random.between(1, 15), () => {
          const answer = fate === "before" ? null : { value: run() };
          void port.later(random.between(1, 15)).then(() => {
            if (answer && fate === "fine") resolve(answer.value);
            else reject(new Error("The register did not answer."));
          });
        });
      });
    });
  }
}

const keyed = (tenantId: string, claim: Claim) => ({ ...claim, key: `${tenantId} ${claim.key}` });
