import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * Adds missing lines to the text of a `.gitignore`.
 *
 * @param text the current text. Undefined if there is no file.
 * @param folders the folders to ignore, relative to the file, such as `data/app`.
 * @returns the same text if no line is missing.
 */
export function withIgnored(
  text: string | undefined,
  folders: readonly string[],
): string | undefined {
  const lines = new Set((text ?? "").split(/\r?\n/).map(normalizeLine));
  const missing = folders.filter((folder) => !parents(folder).some((parent) => lines.has(parent)));
  if (missing.length === 0) return text;
  const lineEnd = text?.includes("\r\n") ? "\r\n" : "\n";
  const start = text === undefined || text === "" || text.endsWith("\n") ? "" : lineEnd;
  return `${text ?? ""}${start}${missing.map((folder) => `/${folder}/${lineEnd}`).join("")}`;
}

/** True if the database is inside the project, so it must be ignored. */
export function isWithinProject(database: string): boolean {
  return !isAbsolute(database) && !/^(\.\.(\/|$)|[a-zA-Z]:|\.?$)/.test(database);
}

export function isInGit(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  return dirname(folder) !== folder && isInGit(dirname(folder));
}

/** `data/app` → `data`, `data/app`: a line for any of these ignores it. */
function parents(folder: string): string[] {
  const parts = normalizeLine(folder).split("/");
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}

/** Removes the slashes and stars around a path, which make no difference here. */
function normalizeLine(line: string): string {
  return line
    .trim()
    .replace(/^(\.?\/)/, "")
    .replace(/(\/\**|\/)$/, "");
}
