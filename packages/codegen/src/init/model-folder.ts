import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ProjectFileError } from "../errors/codegen-errors.js";

const moduleName = /\.[cm]?[jt]sx?$/;

/** Whether a folder of modules, if there is one, has models, or nothing. */
export function isForKeywright(folder: string): boolean {
  if (!existsSync(folder)) return true;
  if (!statSync(folder).isDirectory()) return false;
  return namesIn(folder).length === 0 || hasModel(folder);
}

/**
 * Whether a module in a folder makes a model.
 *
 * @throws {ProjectFileError} where the folder is none, or it or a module cannot be read.
 */
export function hasModel(folder: string): boolean {
  return namesIn(folder).some((name) => {
    const path = join(folder, name);
    return moduleName.test(name) && isFile(path) && textOf(path).includes("defineModel");
  });
}

/**
 * The names of what is in a folder; none where there is no folder.
 *
 * @throws {ProjectFileError} where it cannot be read, or is something else.
 */
export function namesIn(folder: string): string[] {
  return attempt(folder, () => (existsSync(folder) ? readdirSync(folder) : []));
}

/** False for a link that leads to nothing. */
function isFile(path: string): boolean {
  return attempt(path, () => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

function textOf(path: string): string {
  return attempt(path, () => readFileSync(path, "utf8"));
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new ProjectFileError(path, error);
  }
}
