import type { Strike } from "./plan.ts";

/** What a port of a life may do to the world. */
export interface LifePort {
  readonly n: number;
  /** Resolves in a turn of the life. */
  later(ms: number): Promise<void>;
  /** Leaves when everything before it is durable, if the life is still there by then. */
  gate(run: () => void): void;
  /** Another life has begun, and this one runs on. */
  isZombie(): boolean;
  /** Something has left that the plan may let the object die of. */
  strike(by: Strike): void;
  /** The last durable event. */
  head(): number;
}

/** Asks the world: resolves in a turn of the life, some time after the request has left. */
export const leaving = (port: LifePort, ms: number, leave: () => void): Promise<void> =>
  new Promise((resolve) => {
    port.gate(() => {
      leave();
      void port.later(ms).then(resolve);
    });
  });
