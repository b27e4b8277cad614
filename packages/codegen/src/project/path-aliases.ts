import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findTsconfig, type Tsconfig, tsconfigsIn } from "./read-tsconfig.js";

/**
 * Returns a function that says which `tsconfig.json` has the path aliases of a module, where the one of a folder refers to
 * others: the one that the module is a file of, or else the first that has aliases. It says undefined where there are no
 * others, or no aliases.
 */
export async function referredAliases(
  folder: string,
): Promise<(modulePath: string) => Tsconfig | undefined> {
  const path = findTsconfig(folder);
  // It takes long to load the compiler, and most projects do without it here.
  if (path === undefined || !readFileSync(path, "utf8").includes('"references"')) {
    return () => undefined;
  }
  const { default: compiler } = await import("typescript");
  const { all, of } = tsconfigsIn(compiler, folder);
  return (modulePath) => [of(modulePath), ...all].find(hasAliases);
}

function hasAliases({ options }: Tsconfig): boolean {
  return options.paths !== undefined || options.baseUrl !== undefined;
}

/** The files that were written, by their text. */
const aliasFiles = new Map<string, string>();

/**
 * The path of a `tsconfig.json` that has the path aliases of another one: jiti reads files of this name only. It reads it
 * again for each module, so that the file is there until the process ends.
 */
export function aliasFile(tsconfig: Tsconfig): string {
  const text = JSON.stringify({ compilerOptions: aliasesOf(tsconfig) });
  const known = aliasFiles.get(text);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "keywright-aliases-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "tsconfig.json");
  writeFileSync(path, text);
  aliasFiles.set(text, path);
  return path;
}

/** What a `tsconfig.json` says of path aliases, with absolute paths. */
function aliasesOf({ path = "", options }: Tsconfig): object {
  const { baseUrl, paths = {}, pathsBasePath } = options;
  // What it extends may stand in another folder.
  const base = baseUrl ?? (typeof pathsBasePath === "string" ? pathsBasePath : dirname(path));
  const absolute = Object.entries(paths).map(([pattern, targets]) => [
    pattern,
    targets.map((target) => resolve(base, target)),
  ]);
  return { ...(baseUrl !== undefined && { baseUrl }), paths: Object.fromEntries(absolute) };
}
