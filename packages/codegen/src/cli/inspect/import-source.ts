import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { openForReading } from "../../inspect/transfer/file-streams.js";
import { type Line, readLines } from "../../inspect/transfer/read-lines.js";
import type { Terminal } from "../terminal/terminal.js";

/** A file, or standard input, that is imported. */
export class ImportSource {
  readonly lines: AsyncGenerator<Line>;
  readonly #stream: Readable;
  readonly #path: string;
  #isClosed = false;

  constructor(stream: Readable, path: string) {
    this.#stream = stream;
    this.#path = path;
    this.lines = this.#read();
  }

  /** Ends its lines, also where it waits for more: who pipes into it may wait for something itself. */
  close(): void {
    this.#isClosed = true;
    this.#stream.destroy();
  }

  async *#read(): AsyncGenerator<Line> {
    try {
      yield* readLines(this.#chunks());
    } catch (error) {
      // Its end may be in the middle of a character.
      if (!this.#isClosed) throw error;
    }
  }

  /** @throws {FileFailedError} where it cannot be read. */
  async *#chunks(): AsyncGenerator<Uint8Array | string> {
    try {
      for await (const chunk of this.#stream) yield chunk as Uint8Array | string;
    } catch (error) {
      throw new FileFailedError(this.#path, error);
    }
  }
}

/**
 * Opens a file, or standard input without one.
 *
 * @throws {FileFailedError} where it cannot be opened.
 */
export async function openImportSource(
  { folder, stdin }: Terminal,
  file: string | undefined,
): Promise<ImportSource> {
  if (file === undefined) return new ImportSource(stdin, "standard input");
  const path = resolve(folder, file);
  try {
    return new ImportSource(await openForReading(path), path);
  } catch (error) {
    throw new FileFailedError(path, error);
  }
}
