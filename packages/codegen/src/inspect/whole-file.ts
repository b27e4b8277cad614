import { open, rename, rm } from "node:fs/promises";
import { FileFailedError } from "../errors/inspect-errors.js";

/** Characters that are gathered for one write. */
const chunkLength = 0x10000;

/**
 * Writes lines to a file, which takes the place of another only when all of them are on disk.
 *
 * @param signal where it is aborted, nothing takes the place.
 * @returns whether the file is there.
 * @throws {FileFailedError} where the file system refuses, and what `lines` throws.
 */
export async function writeWholeFile(
  path: string,
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
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await attempt(() => open(temporary, "wx"));
  try {
    try {
      for await (const chunk of chunksOf(lines)) await attempt(() => file.appendFile(chunk));
      await attempt(() => file.sync());
    } finally {
      await file.close();
    }
    if (!signal.aborted) await attempt(() => rename(temporary, path));
  } finally {
    await rm(temporary, { force: true });
  }
  return !signal.aborted;
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
