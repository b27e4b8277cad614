import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findTsconfig, type Tsconfig, tsconfigsIn } from "./read-tsconfig.js";

/**
 * Returns a function that finds the `tsconfig.json` with the path aliases of a module, if the
 * `tsconfig.json` of a folder references others. It is the one that contains the module or, if that
 * has no aliases, the first one that has some. The function returns undefined if there are no
 * references or no aliases.
 */
export async function referredAliases(
  folder: string,
): Promise<(modulePath: string) => Tsconfig | undefined> {
  const path = findTsconfig(folder);
  // Loading the compiler takes long, and most projects do not need it here.
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

const aliasFiles = new Map<string, string>();

/**
 * Writes a `tsconfig.json` with the path aliases of another one and returns its path. jiti reads
 * only files with this name. It reads the file again for each module, so the file is deleted only
 * when the process exits.
 */
export function aliasFile(tsconfig: Tsconfig): string {
  const text = JSON.stringify({ compilerOptions: aliasesOf(tsconfig) });
  const existingFile = aliasFiles.get(text);
  if (existingFile !== undefined) return existingFile;
  const folder = mkdtempSync(join(tmpdir(), "keywright-aliases-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "tsconfig.json");
  writeFileSync(path, text);
  aliasFiles.set(text, path);
  return path;
}

function aliasesOf({ path = "", options }: Tsconfig): object {
  const { baseUrl, paths = {}, pathsBasePath } = options;
  // The aliases may come from a file that it extends, which may be in another folder.
  const base = baseUrl ?? (typeof pathsBasePath === "string" ? pathsBasePath : dirname(path));
  const absolute = Object.entries(paths).map(([pattern, targets]) => [
    pattern,
    targets.map((target) => resolve(base, target)),
  ]);
  return { ...(baseUrl !== undefined && { baseUrl }), paths: Object.fromEntries(absolute) };
}
