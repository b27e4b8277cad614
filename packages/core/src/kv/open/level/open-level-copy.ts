import { copyFile, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCurrent } from "../../../engine/level/files/closed-mark.js";
import { FileChecker } from "../../../engine/level/files/file-checker.js";
import { type LevelDatabase, LevelEngine } from "../../../engine/level/level-engine.js";
import { openWithLogs } from "../../../engine/level/open-with-logs.js";
import { EngineFailedError } from "../../../errors/core-errors.js";
import { openingError } from "../opening-error.js";
import type { OpenedEngine } from "../own/owned-place.js";
import type { LevelOptions } from "./open-level.js";

/** Another process may replace files while they are copied. */
const attempts = 5;

/**
 * Opens a LevelDB database for reads, and writes nothing to its folder. LevelDB writes a new
 * manifest and a new log whenever it opens a folder. So it opens a temporary folder with copies of
 * these files and links to the tables, which never change.
 *
 * @throws {CorruptionError} if files are damaged.
 * @throws {DatabasePathError} if files cannot be read.
 */
export async function openLevelCopy(
  location: string,
  options: LevelOptions,
): Promise<OpenedEngine> {
  const files =
    options.checkFiles === false
      ? undefined
      : new FileChecker(location, options.checkFiles, { marksClose: false });
  const folder = await mkdtemp(join(tmpdir(), "keywright-read-"));
  const release = () => rm(folder, { recursive: true, force: true });
  try {
    const logs = (await files?.checkBeforeOpen()) ?? [];
    await copyOrLink(location, folder);
    const level = await openWithLogs(folder, logs, { ...options, createIfMissing: false });
    try {
      const database = level as unknown as LevelDatabase;
      return { engine: await LevelEngine.open(database, { ...options, files }), release };
    } catch (error) {
      await level.close();
      throw error;
    }
  } catch (error) {
    await release();
    throw openingError(location, error);
  }
}

async function copyOrLink(from: string, to: string): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const current = await readCurrent(from);
    const names = (await readdir(from)).filter(isPart);
    const missing = await Promise.all(names.map((name) => copyPart(from, to, name)));
    const isSame = (await readCurrent(from)) === current && !missing.includes(true);
    if (isSame) return;
    for (const name of await readdir(to)) await rm(join(to, name));
  }
  const cause = new Error("another process replaces its files again and again");
  throw new EngineFailedError(cause, "open", from);
}

function isPart(name: string): boolean {
  return name === "CURRENT" || /^(MANIFEST-\d+|\d+\.(log|ldb|sst))$/.test(name);
}

/** Resolves with true if the file is gone. */
async function copyPart(from: string, to: string, name: string): Promise<boolean> {
  const source = join(from, name);
  const target = join(to, name);
  try {
    const isTable = /\.(ldb|sst)$/.test(name);
    // On Windows, links need a permission that most users lack.
    if (isTable && process.platform !== "win32") await symlink(source, target);
    else await copyFile(source, target);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}
