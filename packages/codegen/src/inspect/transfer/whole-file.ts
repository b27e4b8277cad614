import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileFailedError } from "../../errors/inspect-errors.js";

/** Characters that are gathered for one write. */
const chunkLength = 0x10000;

/** A file that is written as a whole. */
export interface WholeFile {
  /** No link: a link's place would be taken. */
  readonly path: string;
  /** Permission bits of the file that is there; undefined where there is none. */
  readonly mode: number | undefined;
}

/**
 * Writes lines to a file, which takes the place of another only when all of them are on disk. It gets that one's mode.
 *
 * @param signal where it is aborted, nothing takes the place.
 * @returns whether the file is there.
 * @throws {FileFailedError} where the file system refuses, and what `lines` throws.
 */
export async function writeWholeFile(
  { path, mode }: WholeFile,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const attempt = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      throw new FileFailedError(path, error);
    }
  };
  // Not made of the file's name, which may be as long as a name can be.
  const temporary = join(dirname(path), `keywright-${randomUUID()}.tmp`);
  const remove = () => {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // What was thrown before says more.
    }
  };
  // A second Ctrl-C ends the process at once.
  process.on("exit", remove);
  try {
    const file = await attempt(() => openLike(temporary, mode));
    try {
      for await (const chunk of chunksOf(lines)) await attempt(() => file.appendFile(chunk));
      await attempt(() => file.sync());
    } finally {
      await file.close();
    }
    if (signal.aborted) return false;
    await attempt(() => rename(temporary, path));
    return true;
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** Makes a file with exactly this mode, which nobody else could open before. */
async function openLike(path: string, mode: number | undefined): Promise<FileHandle> {
  if (mode === undefined) return await open(path, "wx");
  const file = await open(path, "wx", 0o600);
  try {
    await file.chmod(mode);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}
