/**
 * What people will see of a call, worked out by the server from the arguments that will run, never from what the model
 * says about them; and what must still be so when it runs.
 */
import { canonicalJson } from "../protocol/canonical-json.ts";
import { utf8Bytes } from "../protocol/text.ts";
import type { Preview } from "../protocol/tool-call.ts";
import type { PreviewOf, Tool } from "../tools/define-tool.ts";
import { plainJson } from "./tool-plain-json.ts";
import { shown } from "./tool-visible.ts";

export type Shown =
  | { readonly ok: true; readonly preview: Preview; readonly expect?: unknown }
  | { readonly ok: false; readonly detail: string };

const ROWS = 64;
const LABEL_CHARS = 120;
const CELL_CHARS = 1_024;
const ROWS_BYTES = 8 * 1024;
const EXPECT_BYTES = 4 * 1024;

/** Of a tool's own preview; what it returns is checked like anything else that a tool returns. */
export function shownOf(tool: Tool<unknown>, of: PreviewOf): Shown {
  const plain = plainJson(of);
  if (!plain.ok) return { ok: false, detail: `its preview is no plain data: ${plain.detail}` };
  const { rows, expect, costMicroUsd } = plain.value as Partial<PreviewOf>;
  if (!Array.isArray(rows)) return { ok: false, detail: "its preview has no rows" };
  if (expect !== undefined && utf8Bytes(canonicalJson(expect)) > EXPECT_BYTES) {
    return { ok: false, detail: "what it expects is too long" };
  }
  const cost = Number.isInteger(costMicroUsd) ? { costMicroUsd: Number(costMicroUsd) } : {};
  const preview = { rows: bounded(rows.map(rowOf)), ...reversibleOf(tool), ...cost };
  return { ok: true, preview, ...(expect === undefined ? {} : { expect }) };
}

/** Of a tool without a preview: its arguments as they are. */
export function shownArgs(tool: Tool<unknown>, args: unknown): Preview {
  const members = typeof args === "object" && args !== null ? Object.entries(args) : [["value", args] as const];
  return { rows: bounded(members.map(([label, value]) => rowOf({ label, value }))), ...reversibleOf(tool) };
}

type Row = Preview["rows"][number];

function rowOf(row: unknown): Row {
  const { label, ...cells } = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>;
  const result: Row = { label: shown(textOf(label), LABEL_CHARS) };
  for (const name of ["before", "after", "value"] as const) {
    if (cells[name] !== undefined) result[name] = shown(textOf(cells[name]), CELL_CHARS);
  }
  return result;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
const reversibleOf = ({ reversible }: Tool<unknown>) => (reversible === undefined ? {} : { reversible });

/** As many rows as fit; where some do not, the last row says how many. */
function bounded(rows: readonly Row[]): Row[] {
  const kept: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += utf8Bytes(JSON.stringify(row)) + 1;
    if (bytes > ROWS_BYTES || (kept.length === ROWS - 1 && rows.length > ROWS)) {
      return [...kept, { label: "…", value: `+${rows.length - kept.length}` }];
    }
    kept.push(row);
  }
  return kept;
}
