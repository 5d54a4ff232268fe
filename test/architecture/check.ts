/** Holds a tree of sources against the table. Pure: the tree comes in as a map, so a test can plant a violation. */
import { posix } from "node:path";
import { readModule, type Import, type Module } from "./imports.ts";
import { ENTRY, FOLDERS, ROOTS, type Allowed } from "./table.ts";

/** Path inside src/ (with `/`) to text. */
export type Tree = ReadonlyMap<string, string>;

export type Report = { readonly violations: readonly string[]; readonly modules: readonly string[] };

const MODULE = /\.tsx?$/;
const ASSET = /\.(sql|css|html|json|svg)$/;

function folderOf(path: string): string | undefined {
  const slash = path.indexOf("/");
  return slash < 0 ? undefined : path.slice(0, slash);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function allows(rules: readonly Allowed[], from: string, file: string, typeOnly: boolean): boolean {
  return rules.some(
    (rule) => rule.from === from && (typeOnly || !rule.typeOnly) && (rule.files === undefined || rule.files.test(file)),
  );
}

/** The message of the violation, or undefined. */
function checkImport(path: string, { specifier, typeOnly }: Import, tree: Tree): string | undefined {
  if (specifier === undefined) return `${path}: imports something that is not a literal`;
  const folder = folderOf(path);
  const rule = folder === undefined ? undefined : FOLDERS[folder];
  const kind = typeOnly ? "the types of " : "";

  if (!specifier.startsWith(".")) {
    if (folder === undefined || rule === undefined) return undefined;
    if (allows(rule.packages, packageOf(specifier), "", typeOnly)) return undefined;
    return `${path}: ${folder}/ may not import ${kind}${specifier}`;
  }

  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  // Only a root takes assets from outside: the SQL of `migrations/`, where the platform's own tool finds it too.
  if (folder === undefined && /^\.\.\/migrations\/[\w/]+\.sql$/.test(target)) return undefined;
  if (target.startsWith("../")) return `${path}: ${specifier} leaves src/`;
  if (!tree.has(target)) return `${path}: ${specifier} is no file (write the extension)`;
  if (folder === undefined || rule === undefined) return undefined;
  const targetFolder = folderOf(target);
  if (targetFolder === folder) return undefined;
  if (targetFolder === undefined) return `${path}: ${folder}/ may not import the root ${target}`;
  if (allows(rule.folders, targetFolder, target.slice(targetFolder.length + 1), typeOnly)) return undefined;
  return `${path}: ${folder}/ may not import ${kind}${target}`;
}

/** Each cycle once, as `a -> b -> a`. Imports of types count. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const walk = (path: string): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const next of edges.get(path) ?? []) walk(next);
    trail.pop();
    done.add(path);
  };
  for (const path of edges.keys()) walk(path);
  return cycles;
}

function checkPlace(path: string): string | undefined {
  const folder = folderOf(path);
  if (folder === undefined) return ROOTS.includes(path) ? undefined : `${path}: is no root that the table names`;
  if (!Object.hasOwn(FOLDERS, folder)) return `${path}: the table names no folder ${folder}/`;
  if (!MODULE.test(path) && !ASSET.test(path)) return `${path}: is neither a TypeScript module nor a known asset`;
  if (/^index\.tsx?$/.test(posix.basename(path))) return `${path}: is an index file`;
  return undefined;
}

export function checkTree(tree: Tree): Report {
  const violations: string[] = [];
  const note = (violation: string | undefined): void => {
    if (violation !== undefined) violations.push(violation);
  };
  const modules: string[] = [];
  const edges = new Map<string, string[]>();

  for (const [path, text] of tree) {
    note(checkPlace(path));
    if (!MODULE.test(path)) continue;
    const module: Module = readModule(path, text);
    modules.push(path);
    if (module.onlyReExports && path !== ENTRY) note(`${path}: is a barrel, it only re-exports`);
    for (const each of module.imports) note(checkImport(path, each, tree));
    edges.set(
      path,
      module.imports.flatMap(({ specifier }) =>
        specifier?.startsWith(".") ? [posix.normalize(posix.join(posix.dirname(path), specifier))] : [],
      ),
    );
  }
  for (const cycle of findCycles(edges)) note(`cycle: ${cycle}`);
  return { violations, modules };
}
