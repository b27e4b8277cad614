import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Model } from "@keywright/orm";
import { compileModel, isModel } from "@keywright/orm/codegen";
import { glob, isDynamicPattern } from "tinyglobby";
import {
  ModelsUnmatchedError,
  ModuleMissingError,
  ModuleWithoutModelError,
} from "../../errors/codegen-errors.js";
import type { LoadedConfig } from "../config/load-config.js";
import { isGeneratedFile } from "../files/generated-text.js";
import type { FoundModel } from "./found-model.js";

/** A module and the models that it exports, each with the name of its export. */
interface ModelModule {
  readonly path: string;
  readonly models: ReadonlyMap<Model, string>;
}

/**
 * Loads the modules of a configuration and returns their models, sorted by name.
 *
 * @param withoutModel gets the paths of modules that a pattern matches and that export no model.
 * @throws {ModuleWithoutModelError} if a module that is named without a pattern exports no model,
 * or if no module exports one.
 */
export async function findModels(
  config: LoadedConfig,
  withoutModel: string[] = [],
): Promise<FoundModel[]> {
  const modules: ModelModule[] = [];
  for (const [path, isNamed] of await modulePaths(config)) {
    const exports = await config.loadModule(path);
    const models = new Map<Model, string>();
    for (const name of Object.keys(exports).sort(defaultLast)) {
      const value = exports[name];
      if (isModel(value) && !models.has(value)) models.set(value, name);
    }
    if (models.size > 0) modules.push({ path, models });
    // A pattern may also match modules that models only import.
    else if (isNamed) {
      throw new ModuleWithoutModelError({ path, exports: Object.keys(exports).sort() });
    } else withoutModel.push(path);
  }
  const [first] = withoutModel;
  if (modules.length === 0 && first !== undefined) {
    throw new ModuleWithoutModelError({
      path: first,
      exports: Object.keys(await config.loadModule(first)).sort(),
    });
  }
  // A module that re-exports the models of other modules has more models than each of these. The
  // module that defines a model is therefore the first one with it.
  modules.sort((a, b) => a.models.size - b.models.size);
  const found = new Map<Model, FoundModel>();
  for (const { path: modulePath, models } of modules) {
    for (const [model, exportName] of models) {
      if (found.has(model)) continue;
      found.set(model, { model: compileModel(model), definition: model, modulePath, exportName });
    }
  }
  return [...found.values()].sort((a, b) => compare(a.model.name, b.model.name));
}

/** Returns the paths of the modules, each with whether it is named without a pattern. */
async function modulePaths({ folder, models }: LoadedConfig): Promise<[string, boolean][]> {
  const paths = new Map<string, boolean>();
  const excluded = models.filter((entry) => entry.startsWith("!"));
  for (const entry of models) {
    if (excluded.includes(entry)) continue;
    const path = resolve(folder, entry);
    // The name of a file may look like a pattern, as in `[id].ts`.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      paths.set(path, true);
      continue;
    }
    if (!isDynamicPattern(entry)) throw new ModuleMissingError({ path });
    const matches = await matching([entry, ...excluded], folder);
    if (matches.length === 0) {
      throw new ModelsUnmatchedError({ patterns: [entry, ...excluded], folder });
    }
    for (const match of matches) paths.set(match, paths.get(match) ?? false);
  }
  if (paths.size === 0) throw new ModelsUnmatchedError({ patterns: models, folder });
  return [...paths].sort(([a], [b]) => compare(a, b));
}

async function matching(patterns: readonly string[], folder: string): Promise<string[]> {
  const paths = await glob(patterns, {
    cwd: folder,
    absolute: true,
    expandDirectories: false,
    ignore: ["**/node_modules/**", "**/*.d.{ts,mts,cts}"],
  });
  return paths.filter((path) => !isGeneratedFile(path)).map((path) => resolve(path));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function defaultLast(a: string, b: string): number {
  return Number(a === "default") - Number(b === "default") || compare(a, b);
}
