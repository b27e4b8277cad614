import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { openForReading } from "../../inspect/transfer/file-streams.js";
import { type Line, readLines } from "../../inspect/transfer/read-lines.js";
import type { Terminal } from "../terminal/terminal.js";

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

  /** Ends the lines, even while more input is awaited: the writer of a pipe may be waiting too. */
  close(): void {
    this.#isClosed = true;
    this.#stream.destroy();
  }

  async *#read(): AsyncGenerator<Line> {
    try {
      yield* readLines(this.#chunks());
    } catch (error) {
      // After `close`, the input may end within a character.
      if (!this.#isClosed) throw error;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array | string> {
    try {
      for await (const chunk of this.#stream) yield chunk as Uint8Array | string;
    } catch (error) {
      throw new FileFailedError({ path: this.#path }, error);
    }
  }
}

export async function openImportSource(
  { folder, stdin }: Terminal,
  file: string | undefined,
): Promise<ImportSource> {
  if (file === undefined) return new ImportSource(stdin, "standard input");
  const path = resolve(folder, file);
  try {
    return new ImportSource(await openForReading(path), path);
  } catch (error) {
    throw new FileFailedError({ path }, error);
  }
}
