import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigMissingError } from "../errors/codegen-errors.js";
import { checkConfig, type Settings } from "./check-config.js";
import { createModuleLoader, type LoadModule } from "./load-module.js";

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
 * @throws {TsconfigInvalidError} for a `tsconfig.json` that extends what is not there.
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
