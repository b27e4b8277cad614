import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/**
 * The text of a `.gitignore` with lines that it lacks.
 *
 * @param text what stands in it; undefined where there is none.
 * @param folders to be ignored, from the folder of the file, such as `data/app`.
 * @returns the same text where nothing is lacking.
 */
export function withIgnored(
  text: string | undefined,
  folders: readonly string[],
): string | undefined {
  const lines = new Set((text ?? "").split(/\r?\n/).map(plain));
  const missing = folders.filter((folder) => !parents(folder).some((parent) => lines.has(parent)));
  if (missing.length === 0) return text;
  const lineEnd = text?.includes("\r\n") ? "\r\n" : "\n";
  const start = text === undefined || text === "" || text.endsWith("\n") ? "" : lineEnd;
  return `${text ?? ""}${start}${missing.map((folder) => `/${folder}/${lineEnd}`).join("")}`;
}

/** Whether the database is in the project, so that its repository would take it in. */
export function isWithinProject(database: string): boolean {
  return !isAbsolute(database) && !/^(\.\.(\/|$)|[a-zA-Z]:|\.?$)/.test(database);
}

/** Whether a folder is in a Git repository. */
export function isInGit(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  return dirname(folder) !== folder && isInGit(dirname(folder));
}

/** `data/app` → `data`, `data/app`: a line for any of them ignores it. */
function parents(folder: string): string[] {
  const parts = plain(folder).split("/");
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}

/** A line without what makes no difference here. */
function plain(line: string): string {
  return line
    .trim()
    .replace(/^(\.?\/)/, "")
    .replace(/(\/\**|\/)$/, "");
}
