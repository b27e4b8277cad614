import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type Typescript from "typescript";
import { posix } from "./paths.js";

/** The TypeScript compiler as a library. */
export type Compiler = typeof Typescript;

/**
 * The contents of a `tsconfig.json`, including what it extends. Parts that cannot be read are left
 * out. The compiler reports them.
 */
export interface Tsconfig {
  /** The absolute path of the file. Undefined if there is no file. */
  readonly path: string | undefined;
  readonly options: Typescript.CompilerOptions;
  /**
   * The files that it includes, with forward slashes. `include` is not expanded if the file has no
   * references and no other file references it.
   */
  readonly files: ReadonlySet<string>;
}

/**
 * Returns the path of the `tsconfig.json` that applies to a folder: the one in it, or the one in
 * the nearest parent folder.
 */
export function findTsconfig(folder: string): string | undefined {
  const path = join(folder, "tsconfig.json");
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : findTsconfig(above);
}

/**
 * Returns a function that finds the `tsconfig.json` that applies to a module: among the one of a
 * folder and those that it references, the one that includes the module. A module that none of them
 * includes gets the first one that has files.
 */
export function tsconfigsFor(
  compiler: Compiler,
  folder: string,
): (modulePath: string | undefined) => Tsconfig {
  return tsconfigsIn(compiler, folder).of;
}

/**
 * Returns the function of {@link tsconfigsFor}, and all of these files. The one of the folder is
 * the first.
 */
export function tsconfigsIn(
  compiler: Compiler,
  folder: string,
): { readonly all: readonly Tsconfig[]; of(modulePath: string | undefined): Tsconfig } {
  const path = findTsconfig(folder);
  const none: Tsconfig = { path: undefined, options: {}, files: new Set() };
  const [root = none, ...others] = path === undefined ? [] : readWithReferences(compiler, path);
  const all = [root, ...others];
  const fallback = all.find(({ files }) => files.size > 0) ?? others[0] ?? root;
  return {
    all,
    of: (modulePath) =>
      all.find(({ files }) => modulePath !== undefined && files.has(posix(modulePath))) ?? fallback,
  };
}

/** Reads a `tsconfig.json` and all files that it references, directly or indirectly. */
function readWithReferences(
  compiler: Compiler,
  path: string,
  visited = new Set<string>(),
): Tsconfig[] {
  const isReferred = visited.size > 0;
  visited.add(path);
  const config: unknown = compiler.readConfigFile(path, compiler.sys.readFile).config ?? {};
  const hasReferences = typeof config === "object" && config !== null && "references" in config;
  const { options, fileNames, projectReferences } = compiler.parseJsonConfigFileContent(
    config,
    isReferred || hasReferences ? compiler.sys : { ...compiler.sys, readDirectory: () => [] },
    dirname(path),
    undefined,
    path,
  );
  const referred = (projectReferences ?? [])
    .map((reference) => compiler.resolveProjectReferencePath(reference))
    .filter((other) => existsSync(other))
    .flatMap((other) => (visited.has(other) ? [] : readWithReferences(compiler, other, visited)));
  return [{ path, options, files: new Set(fileNames.map(posix)) }, ...referred];
}
