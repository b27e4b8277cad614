import { constants, createReadStream, createWriteStream, fstat, open } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

/** Opens a file, a device or a named pipe for reading. Waits where it is a pipe that nobody writes to yet. */
export async function openForReading(path: string): Promise<Readable> {
  const { fd, isPipe } = await opened(path, constants.O_RDONLY);
  return isPipe
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream("", { fd });
}

/** Opens a device or a named pipe for writing. Waits where it is a pipe that nobody reads yet. */
export async function openForWriting(path: string): Promise<Writable> {
  const { fd, isPipe } = await opened(path, constants.O_WRONLY);
  return isPipe
    ? new Socket({ fd, readable: false, writable: true })
    : createWriteStream("", { fd });
}

/** A stream of a file would hold a thread while the other end of a pipe is idle, and the process could not exit. */
async function opened(
  path: string,
  flags: number,
): Promise<{ readonly fd: number; readonly isPipe: boolean }> {
  const fd = await promisify(open)(path, flags);
  return { fd, isPipe: (await promisify(fstat)(fd)).isFIFO() };
}
