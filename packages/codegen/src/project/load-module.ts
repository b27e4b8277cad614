import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti, type Jiti } from "jiti";
import { ModuleFailedError, TsconfigInvalidError } from "../errors/codegen-errors.js";
import { aliasFile, referredAliases } from "./path-aliases.js";
import { posix } from "./paths.js";
import { findTsconfig, type Tsconfig } from "./read-tsconfig.js";

/** Loads modules of the user's, TypeScript or JavaScript, one after the other. */
export type LoadModule = (path: string) => Promise<Readonly<Record<string, unknown>>>;

/**
 * A loader for the modules of a project. They share one instance of each module that they import, and packages are
 * imported by Node itself, so that the project's own Keywright and Zod are what its models are made of. Path aliases of
 * the project's `tsconfig.json` are followed, or of the one that it refers to for a module.
 *
 * @param from the absolute path of a file in the project, such as its configuration.
 * @throws {TsconfigInvalidError} for a `tsconfig.json` that extends what is not there.
 */
export function createModuleLoader(from: string): LoadModule {
  const jiti = createLoader(from);
  forgetLoaded(jiti);
  const loaderFor = loadersOfReferred(from, jiti);
  return async (path) => {
    const loader = await loaderFor(path);
    const before = new Set(Object.keys(jiti.cache));
    try {
      return await loader.import<Readonly<Record<string, unknown>>>(path);
    } catch (error) {
      throw new ModuleFailedError(path, placeOf(error), error);
    } finally {
      for (const added of Object.keys(jiti.cache)) {
        if (!before.has(added) && !isPackage(added)) loaded.add(added);
      }
    }
  };
}

function createLoader(from: string, tsconfigPaths: string | true = true): Jiti {
  try {
    return createJiti(from, { fsCache: false, interopDefault: false, tsconfigPaths });
  } catch (error) {
    const tsconfig = findTsconfig(dirname(from));
    if (tsconfig === undefined) throw error;
    throw new TsconfigInvalidError(tsconfig, error);
  }
}

/**
 * Returns a function that says which loader knows the path aliases of a module: the usual one, or where `tsconfig.json`
 * refers to others one for each of these. All have one cache.
 */
function loadersOfReferred(from: string, usual: Jiti): (path: string) => Promise<Jiti> {
  const loaders = new Map<Tsconfig, Jiti>();
  let aliases: ReturnType<typeof referredAliases> | undefined;
  return async (path) => {
    aliases ??= referredAliases(dirname(from));
    const tsconfig = (await aliases)(path);
    if (tsconfig === undefined) return usual;
    const loader = loaders.get(tsconfig) ?? createLoader(from, aliasFile(tsconfig));
    loaders.set(tsconfig, loader);
    return loader;
  };
}

/** The modules of users' projects that are in the cache, which is that of the whole process. */
const loaded = new Set<string>();

/** The absolute paths of the modules that the last loader has loaded so far, with those that they import; no packages. */
export function loadedModules(): ReadonlySet<string> {
  return loaded;
}

/** What an earlier loader loaded may have changed since. */
function forgetLoaded(jiti: Jiti): void {
  for (const path of loaded) delete jiti.cache[path];
  loaded.clear();
}

/**
 * Where in the user's own code an error was thrown, as `file:line`. Without the column: what is run is not quite what
 * was written.
 */
export function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const syntaxError = /\n ?(\S.*:\d+):\d+\s*$/.exec(error.message);
  if (syntaxError?.[1] !== undefined) return syntaxError[1];
  const frame = framesOf(error).find(({ path }) => existsSync(path) && !isPackage(path));
  return frame === undefined ? undefined : `${frame.path}:${frame.row}`;
}

/** The same where it was the user's own code that threw, or a package that it calls; undefined where it was Keywright's. */
export function placeThrown(error: unknown): string | undefined {
  const place = placeOf(error);
  if (place === undefined) return undefined;
  const first = framesOf(error as Error).find(({ path }) => isOwn(path) || !isPackage(path));
  return first !== undefined && isOwn(first.path) ? undefined : place;
}

interface Frame {
  readonly path: string;
  readonly row: string;
}

function framesOf({ stack = "" }: Error): Frame[] {
  return stack.split("\n").flatMap((line) => {
    const [, file, row] = /^\s+at (?:async )?(?:.+? \()?(.+?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file === undefined || row === undefined || file.startsWith("node:")) return [];
    return [{ path: file.startsWith("file:") ? fileURLToPath(file) : file, row }];
  });
}

function isPackage(path: string): boolean {
  return posix(path).includes("/node_modules/") || isOwn(path);
}

/** Whether a file is of one of Keywright's packages, whichever copy. */
function isOwn(path: string): boolean {
  const posixPath = posix(path);
  return (
    posixPath.includes("/node_modules/@keywright/") ||
    ownFolders.some((folder) => posixPath.startsWith(folder))
  );
}

const require = createRequire(import.meta.url);

/** The folders of Keywright's packages, which in a workspace are not below `node_modules`. */
const ownFolders = [
  dirname(require.resolve("@keywright/core")),
  dirname(require.resolve("@keywright/orm")),
  join(dirname(fileURLToPath(import.meta.url)), ".."),
].map((folder) => `${posix(folder)}/`);
