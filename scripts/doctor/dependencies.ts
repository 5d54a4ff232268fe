/** Whether what is installed is what package.json names. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { finding, type Finding } from "./finding.ts";

interface Manifest {
  readonly version?: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifestAt = (path: string): Manifest | null =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Manifest) : null;

export function dependencies(root: string, nodeVersion = process.versions.node): Finding[] {
  const { engines, ...manifest } = manifestAt(join(root, "package.json")) ?? {};
  const least = Number(/(\d+)/.exec(engines?.node ?? "")?.[1] ?? 0);
  const fits = Number.parseInt(nodeVersion, 10) >= least;
  const wanted = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  const odd = wanted.flatMap(([name, version]) => {
    const installed = manifestAt(join(root, "node_modules", name, "package.json"))?.version;
    if (installed === version) return [];
    const state = installed === undefined ? "wrong" : "odd";
    return [finding(name, state, `${installed ?? "not installed"}, and package.json names ${version}: npm ci`)];
  });
  return [
    finding("Node.js", fits ? "ok" : "wrong", `${nodeVersion}, and ${engines?.node ?? "any"} is wanted`),
    ...(odd.length > 0 ? odd : [finding("packages", "ok", `${wanted.length}, each as package.json names it`)]),
  ];
}
