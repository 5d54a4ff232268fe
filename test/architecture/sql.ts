/**
 * Holds the SQL of the sources against tenancy: in `history/`, which many tenants share, every table that a statement
 * touches is narrowed by its tenant column; in `tenant/` a statement touches only tables that are made there, in objects
 * that are one tenant's by name, or is narrowed likewise. Pure: the tree comes in as a map, so a test can plant a violation.
 *
 * A statement is a string or template that begins as one; parts by name (`${GUARD}`) are put in from where they stand.
 */
import { parseSync } from "vite";
import type { Tree } from "./check.ts";

type Node = { readonly type: string; readonly [key: string]: unknown };
interface Piece {
  readonly path: string;
  readonly text: string;
}
export interface SqlReport {
  readonly violations: readonly string[];
  readonly statements: readonly Piece[];
}

const COLUMN = /\btenant_id\b/g;
const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\s/;
const TOUCHED = /\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b(?!\s*\()/g;
const MADE = /\bCREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?([a-z_]+)/g;
/** Its rows are found by their number, and those by the documents' tenant; matches carry the reader's own token. */
const BY_ROWID: ReadonlySet<string> = new Set(["search"]);
/** The schema itself, which holds nobody's rows. */
const SCHEMA: ReadonlySet<string> = new Set(["sqlite_master", "sqlite_schema"]);

export function checkSql(tree: Tree): SqlReport {
  const violations: string[] = [];
  const statements: Piece[] = [];
  for (const folder of ["history", "tenant"]) {
    const files = [...tree].filter(([path]) => path.startsWith(`${folder}/`) && path.endsWith(".ts"));
    const modules = files.map(([path, text]) => ({ path, ...readSql(path, text) }));
    const parts = new Map(modules.flatMap(({ constants }) => constants));
    const made = new Set(modules.flatMap(({ texts }) => texts.flatMap((text) => namesIn(text, MADE))));
    for (const { path, texts } of modules) {
      for (const text of texts) {
        const whole = filled(text, parts);
        if (!STATEMENT.test(whole)) continue;
        statements.push({ path, text: whole });
        const touched = namesIn(whole, TOUCHED).filter((table) => !BY_ROWID.has(table) && !SCHEMA.has(table));
        const shared = folder === "tenant" ? touched.filter((table) => !made.has(table)) : touched;
        const narrowed = whole.match(COLUMN)?.length ?? 0;
        if (narrowed < shared.length)
          violations.push(`${path}: not narrowed to a tenant: ${whole.replace(/\s+/g, " ").slice(0, 120)}`);
      }
    }
  }
  return { violations, statements };
}

const namesIn = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = ""]) => name);

/** Names that stand for no text stay: what they are is a value, or a table's name. */
function filled(text: string, parts: ReadonlyMap<string, string>, depth = 0): string {
  if (depth > 8) return text;
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => {
    const part = parts.get(name);
    return part === undefined ? whole : filled(part, parts, depth + 1);
  });
}

/** Texts in order, with `${name}` where a name stands in a template; and those that have a name themselves. */
function readSql(path: string, source: string): { texts: string[]; constants: [string, string][] } {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join("; ")}`);
  const texts: string[] = [];
  const constants: [string, string][] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const text = textOf(value);
    if (text !== undefined) texts.push(text);
    if (value.type === "VariableDeclarator") {
      const { id, init } = value;
      const named = isNode(init) ? textOf(init) : undefined;
      if (isNode(id) && typeof id["name"] === "string" && named !== undefined) constants.push([id["name"], named]);
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(program.body);
  return { texts, constants };
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const { quasis, expressions } = node as unknown as { quasis: { value: { cooked: string } }[]; expressions: Node[] };
  return quasis
    .map(({ value: { cooked } }, n) => {
      const expression = expressions[n];
      if (!expression) return cooked;
      return `${cooked}\${${typeof expression["name"] === "string" ? expression["name"] : "value"}}`;
    })
    .join("");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
