import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type Typescript from "typescript";
import { type ImportExtension, posix } from "../files/paths.js";

/** The TypeScript compiler as a library. */
export type Compiler = typeof Typescript;

/** Parts of the file that cannot be read are left out. The compiler reports them. */
export interface Tsconfig {
  /** The absolute path of the file. Undefined if there is no file. */
  readonly path: string | undefined;
  readonly options: Typescript.CompilerOptions;
  /** Returns the files that it includes, with forward slashes. The first call searches for them. */
  readonly files: () => ReadonlySet<string>;
}

/** Returns the path of `tsconfig.json` in a folder or the nearest folder above it. */
export function findTsconfig(folder: string): string | undefined {
  const path = join(folder, "tsconfig.json");
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : findTsconfig(above);
}

/**
 * Reads the `tsconfig.json` that applies to a folder, and those that it references.
 *
 * @returns all of them in `all`, beginning with the first, and a function that finds the one that
 * includes a module. A module that none of them includes gets the first one that has files.
 */
export function tsconfigsIn(
  compiler: Compiler,
  folder: string,
): { readonly all: readonly Tsconfig[]; of(modulePath: string | undefined): Tsconfig } {
  const path = findTsconfig(folder);
  const none: Tsconfig = { path: undefined, options: {}, files: () => new Set() };
  const [root = none, ...others] = path === undefined ? [] : readWithReferences(compiler, path);
  if (others.length === 0) return { all: [root], of: () => root };
  const all = [root, ...others];
  const fallback = all.find(({ files }) => files().size > 0) ?? others[0]!;
  return {
    all,
    of: (modulePath) =>
      all.find(({ files }) => modulePath !== undefined && files().has(posix(modulePath))) ??
      fallback,
  };
}

/**
 * Returns the extension with which files import TypeScript modules: `ts` if the options allow it.
 */
export function importExtensionOf({ options }: Tsconfig): ImportExtension {
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions } = options;
  return [allowImportingTsExtensions, rewriteRelativeImportExtensions].includes(true) ? "ts" : "js";
}

/** Reads a `tsconfig.json` and all files that it references, directly or indirectly. */
function readWithReferences(
  compiler: Compiler,
  path: string,
  visited = new Set<string>(),
): Tsconfig[] {
  visited.add(path);
  const config: unknown = compiler.readConfigFile(path, compiler.sys.readFile).config ?? {};
  const parse = (host: Typescript.ParseConfigHost) =>
    compiler.parseJsonConfigFileContent(config, host, dirname(path), undefined, path);
  // Searching for the files takes long, and many callers need only the options.
  const { options, projectReferences } = parse({ ...compiler.sys, readDirectory: () => [] });
  let found: ReadonlySet<string> | undefined;
  const files = () => {
    found ??= new Set(parse(compiler.sys).fileNames.map(posix));
    return found;
  };
  const referred = (projectReferences ?? [])
    .map((reference) => compiler.resolveProjectReferencePath(reference))
    .filter((other) => existsSync(other))
    .flatMap((other) => (visited.has(other) ? [] : readWithReferences(compiler, other, visited)));
  return [{ path, options, files }, ...referred];
}
