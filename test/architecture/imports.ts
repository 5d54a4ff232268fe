/**
 * Reads what a source file imports: static imports, re-exports, `import()`, `import("…")` types, `import x = require()`
 * and `require()`. It parses rather than searching text, so a specifier in a comment or a string is not an import.
 */
import { parseSync } from "vite";

export type Import = {
  /** As written; undefined when it is not a literal and so cannot be checked. */
  readonly specifier: string | undefined;
  readonly typeOnly: boolean;
};

export type Module = {
  readonly imports: readonly Import[];
  /** Exports something and holds nothing but imports and exports of other modules' names. */
  readonly onlyReExports: boolean;
};

type Node = { readonly type: string; readonly [key: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Literal" && typeof value["value"] === "string") return value["value"];
  if (value.type !== "TemplateLiteral") return undefined;
  const { quasis, expressions } = value;
  if (!Array.isArray(quasis) || !Array.isArray(expressions) || expressions.length > 0) return undefined;
  const cooked: unknown = (quasis[0] as { value?: { cooked?: unknown } } | undefined)?.value?.cooked;
  return typeof cooked === "string" ? cooked : undefined;
}

/** `import { type A, type B }` keeps its module at run time under verbatimModuleSyntax, so only the whole clause counts. */
function importOf(node: Node): Import | undefined {
  switch (node.type) {
    case "ImportDeclaration":
      return { specifier: literal(node["source"]), typeOnly: node["importKind"] === "type" };
    case "ExportAllDeclaration":
    case "ExportNamedDeclaration":
      return node["source"]
        ? { specifier: literal(node["source"]), typeOnly: node["exportKind"] === "type" }
        : undefined;
    case "ImportExpression":
      return { specifier: literal(node["source"]), typeOnly: false };
    case "TSImportType":
      return { specifier: literal(node["source"]), typeOnly: true };
    case "TSExternalModuleReference":
      return { specifier: literal(node["expression"]), typeOnly: false };
    case "CallExpression": {
      const { callee, arguments: args } = node;
      const isRequire = isNode(callee) && callee.type === "Identifier" && callee["name"] === "require";
      return isRequire && Array.isArray(args) ? { specifier: literal(args[0]), typeOnly: false } : undefined;
    }
    default:
      return undefined;
  }
}

function visit(value: unknown, found: Import[]): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, found);
    return;
  }
  if (!isNode(value)) return;
  const here = importOf(value);
  if (here) found.push(here);
  for (const child of Object.values(value)) visit(child, found);
}

function isReExport(node: Node): boolean {
  return node.type === "ExportAllDeclaration" || (node.type === "ExportNamedDeclaration" && !node["declaration"]);
}

/** Throws when the text does not parse: a file that cannot be read must not pass as one without imports. */
export function readModule(path: string, text: string): Module {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join("; ")}`);
  const imports: Import[] = [];
  visit(program.body, imports);
  const statements = program.body as unknown as readonly Node[];
  return {
    imports,
    onlyReExports:
      statements.some(isReExport) && statements.every((node) => node.type === "ImportDeclaration" || isReExport(node)),
  };
}
