import { existsSync } from "node:fs";
import { dirname, extname, relative, resolve, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isDynamicPattern } from "tinyglobby";
import { ConfigMissingError, ProjectFileError } from "../errors/codegen-errors.js";
import { isGeneratedFile } from "../project/generated-text.js";
import { type LoadedConfig, loadConfig } from "../project/load-config.js";
import { loadedModules } from "../project/load-module.js";
import { posix } from "../project/paths.js";
import { type GenerateResult, generate } from "./generate.js";

/** What became of one round: what was generated, or why it was not. */
export type Round = { readonly result: GenerateResult } | { readonly error: unknown };

export interface WatchOptions {
  /** The folder of the configuration, or that to which `config` is relative. */
  readonly folder: string;
  readonly config?: string | undefined;
  /** Ends the watching, behind the round in hand. */
  readonly signal: AbortSignal;
  /** Is told of each round. Changes made from then on begin the next one. */
  onRound(round: Round): void;
}

/** So long it is quiet, in milliseconds, before a round begins: an editor or a checkout changes several files. */
const quiet = 100;

const extensions: ReadonlySet<string> = new Set(
  ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx", "json"].map((name) => `.${name}`),
);

/**
 * Generates, and generates again whenever the configuration, a model's module, a module that they import or a `tsconfig.json`
 * changes, or model modules come or go. A round that fails does not end it; behind one, the change of any module begins the
 * next, since what was missing may be anywhere.
 *
 * @throws {ConfigMissingError} where there is no configuration to begin with.
 * @throws {ProjectFileError} where the files cannot be watched, as where the system allows no more of that.
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
  const failed = failure(watcher, root);
  try {
    watcher.on("all", (event, path) => {
      if (scope.concerns(event, resolve(path))) changes.note();
    });
    await Promise.race([ready(watcher), failed]);
    let isFirst = true;
    while (!signal.aborted) {
      changes.forget();
      const round = await attempt(options, scope);
      if (isFirst && "error" in round && round.error instanceof ConfigMissingError) {
        throw round.error;
      }
      isFirst = false;
      watcher.add(scope.outside());
      options.onRound(round);
      await Promise.race([changes.settled(), failed]);
    }
  } finally {
    await watcher.close();
  }
}

async function attempt({ folder, config }: WatchOptions, scope: Scope): Promise<Round> {
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

/** What a project's rounds depend on. */
interface Scope {
  begin(config: LoadedConfig): void;
  end(isDone: boolean): void;
  /** Whether a change of a file may change what is generated. */
  concerns(event: string, path: string): boolean;
  /** Files and folders that matter, and are not in the folder that is watched. */
  outside(): string[];
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
      modules = new Set([...loadedModules()].map((path) => resolve(path)));
    },
    concerns(event, path) {
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
    outside() {
      return [...modules, ...folders].filter((path) => !isWithin(root, path));
    },
  };
}

/** The folders in which a new file may be a model's module: `src/**` + `/*.ts` → `src`. */
function modelFolders({ folder, models }: LoadedConfig): string[] {
  return models.flatMap((entry) => {
    if (entry.startsWith("!") || !isDynamicPattern(entry)) return [];
    const parts = posix(entry).split("/");
    const end = parts.findIndex((part) => isDynamicPattern(part));
    return [resolve(folder, parts.slice(0, end).join("/"))];
  });
}

/** Packages, hidden folders, and files that are no modules: a database of many files, say. */
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

function ready(watcher: FSWatcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.once("ready", resolve);
  });
}

/**
 * Errors of a path that leads nowhere or may not be read, such as a link to itself or the folder of another user. It is
 * generating that says so where a model is there.
 */
const unreadable: ReadonlySet<unknown> = new Set(["ELOOP", "ENOENT", "EACCES", "EPERM"]);

/** Rejects when the files can no longer be watched. */
function failure(watcher: FSWatcher, root: string): Promise<never> {
  const failed = new Promise<never>((_, reject) => {
    watcher.on("error", (error) => {
      const { code, path = root } = error as NodeJS.ErrnoException;
      if (unreadable.has(code) && path !== root) return;
      reject(new ProjectFileError(root, error));
    });
  });
  // It is waited for in races, between which nobody does.
  failed.catch(() => undefined);
  return failed;
}

/** Changes, gathered until it is quiet. */
interface Changes {
  note(): void;
  /** Those up to now are seen to. */
  forget(): void;
  /** Waits for a change and the quiet behind it, or for the end. */
  settled(): Promise<void>;
}

function createChanges(signal: AbortSignal): Changes {
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;
  let wake = () => {};
  signal.addEventListener("abort", () => wake(), { once: true });
  return {
    note() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        isSettled = true;
        wake();
      }, quiet);
    },
    forget() {
      clearTimeout(timer);
      isSettled = false;
    },
    async settled() {
      if (isSettled || signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      clearTimeout(timer);
    },
  };
}
