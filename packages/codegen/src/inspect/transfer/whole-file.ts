import { type FileHandle, open, rename } from "node:fs/promises";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { withTemporaryFile } from "../../project/files/write-files.js";

const chunkLength = 0x10000;

/** A file that is written completely or not at all. */
export interface WholeFile {
  /** Must not be a link, because the file would replace the link. */
  readonly path: string;
  /** The permission bits of the existing file. Undefined if there is no file. */
  readonly mode: number | undefined;
}

/**
 * Writes lines to a temporary file, which replaces the file after all of them are on disk. The new
 * file has the mode of the old one.
 *
 * @param signal if it is aborted, the old file is kept.
 * @returns true if the new file is in place.
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
      throw new FileFailedError({ path }, error);
    }
  };
  return await withTemporaryFile(path, async (temporary) => {
    const file = await attempt(() => createWithMode(temporary, mode));
    try {
      for await (const chunk of chunksOf(lines)) await attempt(() => file.appendFile(chunk));
      await attempt(() => file.sync());
    } finally {
      await file.close();
    }
    if (signal.aborted) return false;
    await attempt(() => rename(temporary, path));
    return true;
  });
}

/** Creates a file with exactly this mode. No other user could open it before. */
async function createWithMode(path: string, mode: number | undefined): Promise<FileHandle> {
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
