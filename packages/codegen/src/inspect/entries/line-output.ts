import { once } from "node:events";
import { finished } from "node:stream/promises";
import { FileFailedError } from "../../errors/inspect-errors.js";

/** Characters that are gathered for one write. */
const chunkLength = 0x4000;

/** A stream for many lines: no faster than they are read, and to an end where nobody reads them any more. */
export class LineOutput {
  readonly #stream: NodeJS.WritableStream;
  readonly #name: string;
  readonly #ended = new AbortController();
  #failure: unknown;
  #gathered = "";

  /** @param name for an error: its path. */
  constructor(stream: NodeJS.WritableStream, name: string) {
    this.#stream = stream;
    this.#name = name;
    // It stays: what is written behind the end would be an error that nobody listens to.
    if ("on" in stream) stream.on("error", (error: NodeJS.ErrnoException) => this.#end(error));
  }

  /** Whoever read has gone, as `head` does. */
  get isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Aborted when {@link isEnded} becomes true. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  async write(line: string): Promise<void> {
    this.#gathered += `${line}\n`;
    if (this.#gathered.length >= chunkLength) await this.flush();
  }

  /**
   * Writes what was gathered.
   *
   * @throws {FileFailedError} where it cannot be written.
   */
  async flush(): Promise<void> {
    const text = this.#gathered;
    this.#gathered = "";
    if (text !== "" && !this.isEnded && this.#stream.write(text) === false) await this.#drained();
    this.#assertWritten();
  }

  /**
   * Writes what was gathered, and closes the stream when all of it is written.
   *
   * @throws {FileFailedError} where it cannot be written.
   */
  async close(): Promise<void> {
    await this.flush();
    try {
      this.#stream.end();
      await finished(this.#stream);
    } catch (error) {
      this.#end(error as NodeJS.ErrnoException);
    }
    this.#assertWritten();
  }

  #assertWritten(): void {
    if (this.#failure !== undefined) throw new FileFailedError(this.#name, this.#failure);
  }

  async #drained(): Promise<void> {
    try {
      await once(this.#stream, "drain", { signal: this.#ended.signal });
    } catch (error) {
      if (!this.isEnded) throw error;
    }
  }

  #end(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") this.#failure ??= error;
    this.#ended.abort();
  }
}
