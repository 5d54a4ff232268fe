/** The faults that a test can switch on per route of the fake backend. */
import { BadRequest, atLeastZero, isJsonObject, onlyKnown, type JsonObject } from "./json.ts";

export const FAULT_MODES = [
  "500",
  "401",
  "403",
  "timeout",
  "commit_then_drop",
  "empty_success",
  "wrong_shape",
  "delay",
  "off",
] as const;

export type Fault = {
  /** A path, or a method and a path: `/transfer`, `POST /v1/rdb/rest/plans`. */
  readonly route: string;
  /**
   * `500`, `401`, `403`: no effect. `timeout`: silence, then the socket is cut, no effect. `commit_then_drop`: books,
   * then cuts the socket. `empty_success`: 200 `[]`, no effect. `wrong_shape`: books, 200 with another body. `delay`:
   * books at `commitAt`, answers at `answerAt`. `off`: removes the faults of the route.
   */
  readonly mode: (typeof FAULT_MODES)[number];
  /** How many requests it hits; without it all, until it is switched off. */
  readonly times?: number;
  /** timeout: silence before the cut (10 min); commit_then_drop: from the booking to the cut; delay: as answerAt. */
  readonly ms?: number;
  /** Ms after arrival at which the effect is booked (0). */
  readonly commitAt?: number;
  /** Ms after arrival at which the answer is sent. */
  readonly answerAt?: number;
  /** Hits only requests whose JSON body has these members, so that parallel tests share a server. */
  readonly match?: JsonObject;
};

/** `routes`: what a fault may name, as `POST /transfer`. */
export function createFaults(routes: readonly string[]) {
  let faults: { -readonly [K in keyof Fault]: Fault[K] }[] = [];
  const known = new Set(routes.flatMap((route) => [route, route.slice(route.indexOf(" ") + 1)]));

  return {
    add(given: JsonObject): void {
      onlyKnown(given, ["route", "mode", "times", "ms", "commitAt", "answerAt", "match"], "fault");
      const fault = readFault(given, known);
      if (fault.mode === "off") faults = faults.filter(({ route }) => route !== fault.route);
      else faults.push(fault);
    },

    /** The first fault that fits, counted down. */
    take(method: string, path: string, body: unknown): Fault | undefined {
      const fault = faults.find(
        ({ route, match }) => (route === path || route === `${method} ${path}`) && hasMembers(body, match ?? {}),
      );
      if (fault?.times !== undefined) {
        fault.times -= 1;
        if (fault.times <= 0) faults = faults.filter((other) => other !== fault);
      }
      return fault;
    },

    list(): Fault[] {
      return structuredClone(faults);
    },

    clear(): void {
      faults = [];
    },
  };
}

function readFault(given: JsonObject, known: ReadonlySet<string>): Fault {
  const { route, times, match } = given;
  if (typeof route !== "string" || !known.has(route)) {
    throw new BadRequest(`fault: route must be one of ${[...known].join(", ")}`);
  }
  const mode = FAULT_MODES.find((one) => one === String(given.mode));
  if (mode === undefined) throw new BadRequest(`fault: mode must be one of ${FAULT_MODES.join(", ")}`);
  if (times !== undefined && !(typeof times === "number" && Number.isInteger(times) && times > 0)) {
    throw new BadRequest("fault: times must be a whole number above 0; leave it out for all requests");
  }
  const ms = (name: "ms" | "commitAt" | "answerAt"): { [K in typeof name]?: number } => {
    const value = given[name];
    if (value === undefined) return {};
    if (!atLeastZero(value)) throw new BadRequest(`fault: ${name} must be a number of at least 0`);
    return { [name]: Number(value) };
  };
  return {
    route,
    mode,
    ...(times === undefined ? {} : { times }),
    ...ms("ms"),
    ...ms("commitAt"),
    ...ms("answerAt"),
    ...(isJsonObject(match) ? { match } : {}),
  };
}

function hasMembers(body: unknown, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(([key, value]) => isJsonObject(body) && body[key] === value);
}
