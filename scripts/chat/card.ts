/** A pending call as a card: what will happen, as the server worked it out, never as the model put it. */
import type { ToolCall } from "../../src/protocol/tool-call.ts";
import type { Words } from "./words.ts";

export function card(call: ToolCall, words: Words): string {
  const rows = call.preview?.rows ?? [];
  const shown =
    rows.length > 0
      ? rows.map(({ label, before, after, value }) => [
          label,
          before === undefined ? (value ?? after ?? "") : `${before} → ${after ?? "—"}`,
        ])
      : Object.entries(argsOf(call)).map(([name, value]) => [name, JSON.stringify(value)]);
  const width = Math.max(0, ...shown.map(([label]) => (label ?? "").length));
  const lines = [
    `${call.title}  (${call.tool}, ${call.effect})`,
    ...shown.map(([label, value]) => `  ${(label ?? "").padEnd(width)}  ${value ?? ""}`),
    ...(call.preview?.reversible === false ? [`  ${words.irreversible}`] : []),
    // What became of an unknown call may be said at any time: the date was that of its confirmation.
    ...(call.expiresAt === undefined || call.state === "unknown" ? [] : [`  ${words.expires(call.expiresAt)}`]),
  ];
  return ["┌─", ...lines.map((line) => `│ ${line}`), "└─"].join("\n");
}

export const argsOf = ({ args }: ToolCall): Record<string, unknown> =>
  typeof args === "object" && args !== null ? { ...args } : {};
