import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti, type Jiti } from "jiti";
import { ModuleFailedError, TsconfigInvalidError } from "../../errors/codegen-errors.js";
import { posix } from "../files/paths.js";
import { aliasFile, referredAliases } from "./path-aliases.js";
import { findTsconfig, type Tsconfig } from "./read-tsconfig.js";

/**
 * Loads a module of the user's project, TypeScript or JavaScript. Modules are loaded one at a time.
 */
export type LoadModule = (path: string) => Promise<Readonly<Record<string, unknown>>>;

/**
 * Creates a loader for the modules of a project. The modules share one instance of each module that
 * they import. Node.js itself imports packages, so the models are created with the project's own
 * copies of Keywright and Zod. The loader follows the path aliases of the project's
 * `tsconfig.json`, or of the referenced `tsconfig.json` that contains the module.
 *
 * @param from the absolute path of a file in the project, such as its configuration.
 */
export function createModuleLoader(from: string): LoadModule {
  const jiti = createLoader(from);
  forgetLoaded(jiti);
  const loaderFor = createLoaderChooser(from, jiti);
  return async (path) => {
    const loader = await loaderFor(path);
    const before = new Set(Object.keys(jiti.cache));
    try {
      return await loader.import<Readonly<Record<string, unknown>>>(path);
    } catch (error) {
      throw new ModuleFailedError({ path, at: errorPlace(error) }, error);
    } finally {
      for (const added of Object.keys(jiti.cache)) {
        if (!before.has(added) && !isPackage(added)) loadedPaths.add(added);
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
    throw new TsconfigInvalidError({ path: tsconfig }, error);
  }
}

/**
 * Returns a function that chooses the loader that knows the path aliases of a module. This is the
 * default loader, or a separate loader for each `tsconfig.json` that the project's one references.
 * All loaders share one cache.
 */
function createLoaderChooser(from: string, defaultLoader: Jiti): (path: string) => Promise<Jiti> {
  const loaders = new Map<Tsconfig, Jiti>();
  let aliases: ReturnType<typeof referredAliases> | undefined;
  return async (path) => {
    aliases ??= referredAliases(dirname(from));
    const tsconfig = (await aliases)(path);
    if (tsconfig === undefined) return defaultLoader;
    const loader = loaders.get(tsconfig) ?? createLoader(from, aliasFile(tsconfig));
    loaders.set(tsconfig, loader);
    return loader;
  };
}

/** The modules of users' projects in the module cache, which the whole process shares. */
const loadedPaths = new Set<string>();

/** Returns the absolute paths of the modules that the last loader loaded, without packages. */
export function loadedModulePaths(): ReadonlySet<string> {
  return loadedPaths;
}

/** Removes the modules of earlier loaders from the cache, because their files may have changed. */
function forgetLoaded(jiti: Jiti): void {
  for (const path of loadedPaths) delete jiti.cache[path];
  loadedPaths.clear();
}

/**
 * Returns the place in the user's own code at which an error was thrown, as `file:line`. The column
 * is left out because the code that runs is a transformed copy of the file.
 */
export function errorPlace(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const syntaxError = /\n ?(\S.*:\d+):\d+\s*$/.exec(error.message);
  if (syntaxError?.[1] !== undefined) return syntaxError[1];
  const frame = framesOf(error).find(({ path }) => existsSync(path) && !isPackage(path));
  return frame === undefined ? undefined : `${frame.path}:${frame.row}`;
}

/**
 * Returns the result of {@link errorPlace} if the user's own code threw the error, or a package
 * that it calls. Returns undefined if Keywright threw it.
 */
export function userErrorPlace(error: unknown): string | undefined {
  const place = errorPlace(error);
  if (place === undefined) return undefined;
  const first = framesOf(error as Error).find(({ path }) => isKeywright(path) || !isPackage(path));
  return first !== undefined && isKeywright(first.path) ? undefined : place;
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
  return posix(path).includes("/node_modules/") || isKeywright(path);
}

function isKeywright(path: string): boolean {
  const posixPath = posix(path);
  return (
    posixPath.includes("/node_modules/@keywright/") ||
    keywrightFolders().some((folder) => posixPath.startsWith(folder))
  );
}

/** The folders of Keywright's packages. In a workspace they are not inside `node_modules`. */
function keywrightFolders(): string[] {
  const require = createRequire(import.meta.url);
  const folders = [
    dirname(require.resolve("@keywright/core")),
    dirname(require.resolve("@keywright/orm")),
    join(dirname(fileURLToPath(import.meta.url)), "../.."),
  ];
  return folders.map((folder) => `${posix(folder)}/`);
}
