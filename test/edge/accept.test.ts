import { expect, it } from "vitest";
import { chooseType, type MediaType } from "../../src/edge/accept.ts";

const JSON_TYPE = "application/json";
const EVENTS = "text/event-stream";
const HTML = "text/html";
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

it.each<[accept: string | null, offered: MediaType[], chosen: MediaType | null]>([
  [null, [JSON_TYPE, EVENTS], JSON_TYPE],
  ["", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["*/*", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["application/*", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["application/problem+json", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["text/event-stream", [JSON_TYPE, EVENTS], EVENTS],
  ["Text/Event-Stream; charset=utf-8", [JSON_TYPE, EVENTS], EVENTS],
  ["text/*", [JSON_TYPE, EVENTS], EVENTS],
  // Who names the stream wants it, whatever else it takes.
  ["application/json, text/event-stream", [JSON_TYPE, EVENTS], EVENTS],
  ["text/event-stream, */*", [JSON_TYPE, EVENTS], EVENTS],
  ["application/json, text/event-stream;q=0.5", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["text/event-stream;q=0, */*", [JSON_TYPE, EVENTS], JSON_TYPE],
  ["*/*;q=0.1, application/json;q=0", [JSON_TYPE, EVENTS], EVENTS],
  [BROWSER, [JSON_TYPE, HTML], HTML],
  [BROWSER, [JSON_TYPE], JSON_TYPE],
  ["text/event-stream", [JSON_TYPE], null],
  ["image/png", [JSON_TYPE, EVENTS], null],
  ["application/json;q=0", [JSON_TYPE], null],
  ["application/json;q=nonsense", [JSON_TYPE], JSON_TYPE],
])("Accept: %s, offered %s, gets %s", (accept, offered, chosen) => {
  expect(chooseType(accept, offered)).toBe(chosen);
});
