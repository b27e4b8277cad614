import { constants, createReadStream, createWriteStream, fstat, open } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";

/** Opens a file, a device or a named pipe for reading. Waits for the writer of a pipe. */
export async function openForReading(path: string): Promise<Readable> {
  const { fd, isPipe } = await openFile(path, constants.O_RDONLY);
  return isPipe
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream("", { fd });
}

/** Opens a device or a named pipe for writing. Waits for the reader of a pipe. */
export async function openForWriting(path: string): Promise<Writable> {
  const { fd, isPipe } = await openFile(path, constants.O_WRONLY);
  return isPipe
    ? new Socket({ fd, readable: false, writable: true })
    : createWriteStream("", { fd });
}

/** Pipes need a socket: a file stream blocks a thread, and the process could not exit. */
async function openFile(
  path: string,
  flags: number,
): Promise<{ readonly fd: number; readonly isPipe: boolean }> {
  const fd = await promisify(open)(path, flags);
  return { fd, isPipe: (await promisify(fstat)(fd)).isFIFO() };
}
