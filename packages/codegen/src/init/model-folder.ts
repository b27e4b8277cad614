import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ProjectFileError } from "../errors/codegen-errors.js";

const moduleName = /\.[cm]?[jt]sx?$/;

/** True if there is no folder, or if it is empty or contains models. */
export function isForKeywright(folder: string): boolean {
  if (!existsSync(folder)) return true;
  if (!statSync(folder).isDirectory()) return false;
  return namesIn(folder).length === 0 || hasModel(folder);
}

/** True if a module in a folder contains `defineModel`. */
export function hasModel(folder: string): boolean {
  return namesIn(folder).some((name) => {
    const path = join(folder, name);
    return moduleName.test(name) && isFile(path) && textOf(path).includes("defineModel");
  });
}

/** Returns the names of the entries of a folder, or none if it does not exist. */
export function namesIn(folder: string): string[] {
  return attempt(folder, () => (existsSync(folder) ? readdirSync(folder) : []));
}

/** False for a link to a missing file. */
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
    throw new ProjectFileError({ path }, error);
  }
}
