import { existsSync } from "node:fs";
import { dirname, extname, relative, resolve, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isDynamicPattern } from "tinyglobby";
import { ConfigMissingError, ProjectFileError } from "../errors/codegen-errors.js";
import { type LoadedConfig, loadConfig } from "../project/config/load-config.js";
import { loadedModulePaths } from "../project/config/load-module.js";
import { isGeneratedFile } from "../project/files/generated-text.js";
import { posix } from "../project/files/paths.js";
import { type GenerateResult, generate } from "./generate.js";

/** The result of one round: the generated files, or the error. */
export type Round = { readonly result: GenerateResult } | { readonly error: unknown };

export interface WatchOptions {
  /** The folder that contains the configuration, or that `config` is relative to. */
  readonly folder: string;
  readonly config?: string | undefined;
  /** Stops watching after the current round. */
  readonly signal: AbortSignal;
  /** Called after each round. Changes that are made after the call start another round. */
  onRound(round: Round): void;
}

/** Milliseconds without changes before a round: an editor or a checkout changes several files. */
const quietMs = 100;

const extensions: ReadonlySet<string> = new Set(
  ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx", "json"].map((name) => `.${name}`),
);

/**
 * Generates, and generates again whenever the configuration, a model's module, a module that they
 * import or a `tsconfig.json` changes, or when model modules are added or removed. A round that
 * fails does not end the function. After it, a change of any module starts the next round, because
 * the missing part may be in any module.
 *
 * @throws {ConfigMissingError} if there is no configuration in the first round.
 * @throws {ProjectFileError} if the files cannot be watched, for example because the system's limit
 * is reached.
 */
export async function watchAndGenerate(options: WatchOptions): Promise<void> {
  const { signal } = options;
  const root = resolve(options.folder, dirname(options.config ?? ""));
  const scope = createScope(root);
  const changes = createChanges(signal);
  const watcher = watch(root, {
    ignoreInitial: true,
    ignored: (path, stats) => isIgnored(root, path, stats?.isFile() === true),
  });
  const failed = rejectOnFailure(watcher, root);
  try {
    watcher.on("all", (event, path) => {
      if (scope.isRelevant(event, resolve(path))) changes.record();
    });
    await Promise.race([waitUntilReady(watcher), failed]);
    let isFirst = true;
    while (!signal.aborted) {
      changes.discard();
      const round = await runRound(options, scope);
      if (isFirst && "error" in round && round.error instanceof ConfigMissingError) {
        throw round.error;
      }
      isFirst = false;
      watcher.add(scope.outsidePaths());
      options.onRound(round);
      await Promise.race([changes.waitUntilQuiet(), failed]);
    }
  } finally {
    await watcher.close();
  }
}

async function runRound({ folder, config }: WatchOptions, scope: Scope): Promise<Round> {
  try {
    scope.begin(await loadConfig(folder, config));
    const result = await generate({ folder, config });
    scope.end(true);
    return { result };
  } catch (error) {
    scope.end(false);
    return { error };
  }
}

/** The files that the rounds of a project depend on. */
interface Scope {
  begin(config: LoadedConfig): void;
  end(isDone: boolean): void;
  /** Returns true if a change of a file may change the generated files. */
  isRelevant(event: string, path: string): boolean;
  /** Returns the files and folders that matter but are not in the watched folder. */
  outsidePaths(): string[];
}

function createScope(root: string): Scope {
  let folders: readonly string[] = [];
  let modules: ReadonlySet<string> = new Set();
  let isDone = false;
  return {
    begin(config) {
      folders = modelFolders(config);
    },
    end(done) {
      isDone = done;
      modules = new Set([...loadedModulePaths()].map((path) => resolve(path)));
    },
    isRelevant(event, path) {
      if (event === "addDir" || event === "unlinkDir" || !extensions.has(extname(path)))
        return false;
      if (modules.has(path) || /^(tsconfig.*\.json|keywright\.config\.\w+)$/.test(nameOf(path))) {
        return true;
      }
      if (event !== "unlink" && existsSync(path) && isGeneratedFile(path)) return false;
      if (nameOf(path) === "keywright.lock.json") return false;
      if (!isDone) return true;
      const mayBeModel = event === "add" && extname(path) !== ".json";
      return mayBeModel && folders.some((folder) => path.startsWith(folder + sep));
    },
    outsidePaths() {
      return [...modules, ...folders].filter((path) => !isWithin(root, path));
    },
  };
}

/** Returns the folders in which a new file may be a model's module: `src/**` + `/*.ts` → `src`. */
function modelFolders({ folder, models }: LoadedConfig): string[] {
  return models.flatMap((entry) => {
    if (entry.startsWith("!") || !isDynamicPattern(entry)) return [];
    const parts = posix(entry).split("/");
    const end = parts.findIndex((part) => isDynamicPattern(part));
    return [resolve(folder, parts.slice(0, end).join("/"))];
  });
}

/** True for packages, hidden folders and other files than modules, such as those of a database. */
function isIgnored(root: string, path: string, isFile: boolean): boolean {
  if (isFile && !extensions.has(extname(path))) return true;
  return relative(root, path)
    .split(sep)
    .some((name) => name === "node_modules" || (name.startsWith(".") && !/^\.+$/.test(name)));
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep);
}

function nameOf(path: string): string {
  return posix(path).split("/").at(-1)!;
}

function waitUntilReady(watcher: FSWatcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.once("ready", resolve);
  });
}

/** A path that leads nowhere or cannot be read. If it has a model, `generate` reports it. */
const unreadable: ReadonlySet<unknown> = new Set(["ELOOP", "ENOENT", "EACCES", "EPERM"]);

/** Rejects when the files can no longer be watched. */
function rejectOnFailure(watcher: FSWatcher, root: string): Promise<never> {
  const failed = new Promise<never>((_, reject) => {
    watcher.on("error", (error) => {
      const { code, path = root } = error as NodeJS.ErrnoException;
      if (unreadable.has(code) && path !== root) return;
      reject(new ProjectFileError({ path: root }, error));
    });
  });
  // Between the races nothing awaits the promise. Its rejection must not count as unhandled then.
  failed.catch(() => undefined);
  return failed;
}

/** Collects changes until no more of them arrive. */
interface Changes {
  record(): void;
  /** Discards the changes so far, because the next round reads them. */
  discard(): void;
  /** Waits for a change and the quiet time after it, or for the abort signal. */
  waitUntilQuiet(): Promise<void>;
}

function createChanges(signal: AbortSignal): Changes {
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;
  let wake = () => {};
  signal.addEventListener("abort", () => wake(), { once: true });
  return {
    record() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        isSettled = true;
        wake();
      }, quietMs);
    },
    discard() {
      clearTimeout(timer);
      isSettled = false;
    },
    async waitUntilQuiet() {
      if (isSettled || signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      clearTimeout(timer);
    },
  };
}
