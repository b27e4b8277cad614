import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { OutputFailedError, OutputOccupiedError } from "../errors/codegen-errors.js";
import { isGenerated } from "../project/files/generated-text.js";
import { writeFiles } from "../project/files/write-files.js";

/** A generated file, compared with the file on disk. */
export interface OutputFile {
  /** Absolute. */
  readonly path: string;
  /** `"extra"` is a generated file of a model that no longer exists. */
  readonly state: "fresh" | "stale" | "missing" | "extra";
  /** The text that the file must have. Undefined for an extra file. */
  readonly text: string | undefined;
}

/**
 * Compares generated files with the files in their folder.
 *
 * @param texts the text of each file, by the name of the file.
 * @returns the files of `texts` in their order, then the extra files.
 * @throws {OutputOccupiedError} if a file that was not generated has the name of a generated one.
 * @throws {OutputFailedError} if the folder or a file in it cannot be read.
 */
export async function compareOutput(
  folder: string,
  texts: ReadonlyMap<string, string>,
): Promise<OutputFile[]> {
  const files: OutputFile[] = [];
  for (const [name, text] of texts) {
    const path = join(folder, name);
    const onDisk = await readText(path);
    if (onDisk !== undefined && !isGenerated(onDisk)) throw new OutputOccupiedError({ path });
    const state = onDisk === undefined ? "missing" : isSameText(onDisk, text) ? "fresh" : "stale";
    files.push({ path, state, text });
  }
  for (const name of await namesIn(folder)) {
    if (texts.has(name) || !name.endsWith(".ts")) continue;
    const path = join(folder, name);
    const isExtra = isGenerated((await readText(path)) ?? "");
    if (isExtra) files.push({ path, state: "extra", text: undefined });
  }
  return files;
}

/**
 * Writes the files that are stale or missing, then deletes the extra ones. If a file cannot be
 * written, no file changes.
 *
 * @throws {OutputFailedError} if the file system refuses an operation.
 */
export async function writeOutput(files: readonly OutputFile[]): Promise<void> {
  const written = files.flatMap(({ path, state, text }) =>
    text === undefined || state === "fresh" ? [] : { path, text },
  );
  await writeFiles(written, (path, cause) => new OutputFailedError({ path }, cause));
  for (const { path, state } of files) {
    if (state === "extra") await attempt(path, () => rm(path));
  }
}

/**
 * Compares two texts. A checkout may have converted the line ends of `a` to those of the system.
 */
function isSameText(a: string, b: string): boolean {
  return a.replaceAll("\r\n", "\n") === b;
}

async function readText(path: string): Promise<string | undefined> {
  return await attempt(path, () => readFile(path, "utf8"), "ENOENT");
}

async function namesIn(folder: string): Promise<string[]> {
  const read = () => readdir(folder, { withFileTypes: true });
  const entries = (await attempt(folder, read, "ENOENT")) ?? [];
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
}

async function attempt<T>(path: string, action: () => Promise<T>): Promise<T>;
async function attempt<T>(
  path: string,
  action: () => Promise<T>,
  absent: string,
): Promise<T | undefined>;
/** @param absent the code of the error for which the result is undefined. */
async function attempt<T>(
  path: string,
  action: () => Promise<T>,
  absent?: string,
): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (absent !== undefined && (error as NodeJS.ErrnoException).code === absent) return undefined;
    throw new OutputFailedError({ path }, error);
  }
}
