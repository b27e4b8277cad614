import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigInvalidError, ConfigMissingError } from "../errors/codegen-errors.js";
import { createModuleLoader, type LoadModule } from "./load-module.js";

/** A configuration that was found and checked. */
export interface LoadedConfig {
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
  const { models, output } = checkConfig(path, config);
  const ownFolder = dirname(path);
  return { path, folder: ownFolder, models, output: resolve(ownFolder, output), loadModule };
}

function checkConfig(path: string, config: unknown): { models: readonly string[]; output: string } {
  const fail = (at: string, reason: string) => new ConfigInvalidError(path, at, reason);
  if (config === undefined) throw fail("default", "there is no default export");
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    throw fail("default", `it is ${kindOf(config)}, not an object`);
  }
  const { models, output, ...others } = config as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fail(unknown, "there is no such setting");
  const patterns: readonly unknown[] = Array.isArray(models) ? models : [models];
  if (patterns.length === 0) throw fail("models", "it is an empty list");
  if (!patterns.every(isText)) throw fail("models", "it is not a path or a list of paths");
  if (!isText(output)) throw fail("output", "it is not a path");
  return { models: patterns, output };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
