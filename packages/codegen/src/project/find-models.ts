import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Model } from "@keywright/orm";
import { compileModel, isModel } from "@keywright/orm/codegen";
import { glob, isDynamicPattern } from "tinyglobby";
import {
  ModelsUnmatchedError,
  ModuleMissingError,
  ModuleWithoutModelError,
} from "../errors/codegen-errors.js";
import type { FoundModel } from "./found-model.js";
import { isGeneratedFile } from "./generated-text.js";
import type { LoadedConfig } from "./load-config.js";

/** A module and the models that it exports, each with the name of its export. */
interface ModelModule {
  readonly path: string;
  readonly models: ReadonlyMap<Model, string>;
}

/** Loads the modules of a configuration and returns their models, sorted by name. */
export async function findModels(config: LoadedConfig): Promise<FoundModel[]> {
  const modules: ModelModule[] = [];
  for (const path of await modulePaths(config)) {
    const exports = await config.loadModule(path);
    const models = new Map<Model, string>();
    for (const name of Object.keys(exports).sort(defaultLast)) {
      const value = exports[name];
      if (isModel(value) && !models.has(value)) models.set(value, name);
    }
    if (models.size === 0) throw new ModuleWithoutModelError(path, Object.keys(exports).sort());
    modules.push({ path, models });
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

async function modulePaths({ folder, models }: LoadedConfig): Promise<string[]> {
  const paths = new Set<string>();
  const excluded = models.filter((entry) => entry.startsWith("!"));
  for (const entry of models) {
    if (excluded.includes(entry)) continue;
    const path = resolve(folder, entry);
    // The name of a file may look like a pattern, as in `[id].ts`.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
      paths.add(path);
      continue;
    }
    if (!isDynamicPattern(entry)) throw new ModuleMissingError(path);
    const matches = await matching([entry, ...excluded], folder);
    if (matches.length === 0) throw new ModelsUnmatchedError([entry, ...excluded], folder);
    for (const match of matches) paths.add(match);
  }
  if (paths.size === 0) throw new ModelsUnmatchedError(models, folder);
  return [...paths].sort(compare);
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
