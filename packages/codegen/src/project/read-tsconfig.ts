import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type Typescript from "typescript";
import { posix } from "./paths.js";

/** The compiler as a library. */
export type Compiler = typeof Typescript;

/** What a `tsconfig.json` says, with what it extends. What cannot be read says nothing: the compiler complains of it. */
export interface Tsconfig {
  /** Its own, absolute; undefined where there is none. */
  readonly path: string | undefined;
  readonly options: Typescript.CompilerOptions;
  /** The files that it is for, with forward slashes; those of one without references are not looked for. */
  readonly files: ReadonlySet<string>;
}

/** The `tsconfig.json` that is in force in a folder: its own, or that of the nearest folder above. */
export function findTsconfig(folder: string): string | undefined {
  const path = join(folder, "tsconfig.json");
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : findTsconfig(above);
}

/**
 * Returns a function that says which `tsconfig.json` is in force for a module: the one of a folder, or of those that it
 * refers to the one that the module is a file of. A module of none of them is under the first that has files.
 */
export function tsconfigsFor(
  compiler: Compiler,
  folder: string,
): (modulePath: string | undefined) => Tsconfig {
  return tsconfigsIn(compiler, folder).of;
}

/** The same, with all of them: the one of the folder is the first. */
export function tsconfigsIn(
  compiler: Compiler,
  folder: string,
): { readonly all: readonly Tsconfig[]; of(modulePath: string | undefined): Tsconfig } {
  const path = findTsconfig(folder);
  const none: Tsconfig = { path: undefined, options: {}, files: new Set() };
  const [own = none, ...others] = path === undefined ? [] : withReferences(compiler, path);
  const all = [own, ...others];
  const usual = all.find(({ files }) => files.size > 0) ?? others[0] ?? own;
  return {
    all,
    of: (modulePath) =>
      all.find(({ files }) => modulePath !== undefined && files.has(posix(modulePath))) ?? usual,
  };
}

/** A `tsconfig.json` and those that it refers to, and that these refer to. */
function withReferences(compiler: Compiler, path: string, open = new Set<string>()): Tsconfig[] {
  const isReferred = open.size > 0;
  open.add(path);
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
    .flatMap((other) => (open.has(other) ? [] : withReferences(compiler, other, open)));
  return [{ path, options, files: new Set(fileNames.map(posix)) }, ...referred];
}
