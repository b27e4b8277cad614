import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigInvalidError, ConfigMissingError } from "../errors/codegen-errors.js";
import type { Config } from "./config.js";
import { createModuleLoader, type LoadModule } from "./load-module.js";

/** What a configuration says that is not of its files. */
type Settings = Pick<Config, "database" | "migrations" | "adopt">;

/** A configuration that was found and checked. */
export interface LoadedConfig extends Settings {
  /** Absolute, as are all paths here but the patterns. */
  readonly path: string;
  readonly folder: string;
  readonly models: readonly string[];
  readonly output: string;
  /** Loads further modules of the same project. */
  readonly loadModule: LoadModule;
}

const fileNames = ["ts", "mts", "js", "mjs"].map((extension) => `keywright.config.${extension}`);

/**
 * Loads the configuration of a project.
 *
 * @param folder in which it is looked for, or to which `file` is relative.
 * @throws {ConfigMissingError} where there is none.
 * @throws {ModuleFailedError} where it throws.
 * @throws {ConfigInvalidError} where what it exports is of another shape.
 */
export async function loadConfig(folder: string, file?: string): Promise<LoadedConfig> {
  const candidates = (file === undefined ? fileNames : [file]).map((name) => resolve(folder, name));
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new ConfigMissingError(candidates);
  const loadModule = createModuleLoader(path);
  const { default: config } = await loadModule(path);
  const { models, output, ...settings } = checkConfig(path, config);
  const ownFolder = dirname(path);
  return {
    path,
    folder: ownFolder,
    models,
    output: resolve(ownFolder, output),
    ...settings,
    loadModule,
  };
}

interface CheckedConfig extends Settings {
  readonly models: readonly string[];
  readonly output: string;
}

function checkConfig(path: string, config: unknown): CheckedConfig {
  const fail = (at: string, reason: string) => new ConfigInvalidError(path, at, reason);
  if (config === undefined) throw fail("default", "there is no default export");
  if (!isObject(config)) {
    throw fail("default", `it is ${kindOf(config)}, not an object`);
  }
  const { models, output, database, migrations, adopt, ...others } = config;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(unknown, "there is no such setting");
  const patterns: readonly unknown[] = Array.isArray(models) ? models : [models];
  if (patterns.length === 0) throw fail("models", "it is an empty list");
  if (!patterns.every(isText)) throw fail("models", "it is not a path or a list of paths");
  if (!isText(output)) throw fail("output", "it is not a path");
  if (database !== undefined && typeof database !== "function") {
    throw fail("database", "it is not a function that opens a database");
  }
  if (migrations !== undefined && !Array.isArray(migrations)) {
    throw fail("migrations", "it is not a list of what defineMigration returns");
  }
  checkAdopt(adopt, fail);
  // `createDatabase` and `adopt` look at what is in them.
  const settings = Object.entries({ database, migrations, adopt });
  return {
    models: patterns,
    output,
    ...(Object.fromEntries(settings.filter(([, value]) => value !== undefined)) as Settings),
  };
}

function checkAdopt(adopt: unknown, fail: (at: string, reason: string) => Error): void {
  if (adopt === undefined) return;
  if (!isObject(adopt)) throw fail("adopt", `it is ${kindOf(adopt)}, not an object`);
  const { from, models, ...others } = adopt;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(`adopt.${unknown}`, "there is no such setting");
  if (from !== undefined && typeof from !== "function") {
    throw fail("adopt.from", "it is not a function that opens a database");
  }
  if (!isObject(models)) throw fail("adopt.models", "it is not an object of layouts by model");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
