import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { KvLike } from "@keywright/core";
import { ConfigMissingError } from "../../errors/codegen-errors.js";
import { openPath } from "../open-path.js";
import { checkConfig, type Settings } from "./check-config.js";
import { createModuleLoader, type LoadModule } from "./load-module.js";

export interface LoadedConfig extends Omit<Settings, "database"> {
  /** Absolute, like all paths here except the patterns in `models`. */
  readonly path: string;
  readonly folder: string;
  readonly models: readonly string[];
  readonly output: string;
  /** Opens the database. Absent if the configuration has none. */
  readonly database?: () => KvLike | Promise<KvLike>;
  readonly loadModule: LoadModule;
}

const fileNames = ["ts", "mts", "js", "mjs"].map((extension) => `keywright.config.${extension}`);

/**
 * Loads the configuration of a project.
 *
 * @param folder the folder that contains the configuration, or that `file` is relative to.
 */
export async function loadConfig(folder: string, file?: string): Promise<LoadedConfig> {
  const candidates = (file === undefined ? fileNames : [file]).map((name) => resolve(folder, name));
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new ConfigMissingError({ tried: candidates });
  const loadModule = createModuleLoader(path);
  const { default: config } = await loadModule(path);
  const { models, output, database, ...settings } = checkConfig(path, config);
  const configFolder = dirname(path);
  return {
    path,
    folder: configFolder,
    models,
    output: resolve(configFolder, output),
    ...settings,
    ...(database !== undefined && {
      database: typeof database === "string" ? () => openPath(configFolder, database) : database,
    }),
    loadModule,
  };
}
