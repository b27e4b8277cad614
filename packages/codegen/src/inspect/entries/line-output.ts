import { once } from "node:events";
import { finished } from "node:stream/promises";
import { FileFailedError } from "../../errors/inspect-errors.js";

const chunkLength = 0x4000;

/** Writes lines, waits for a slow reader, and stops if the reader closes the other end. */
export class LineOutput {
  readonly #stream: NodeJS.WritableStream;
  readonly #name: string;
  readonly #ending = new AbortController();
  #failure: unknown;
  #buffer = "";

  constructor(stream: NodeJS.WritableStream, name: string) {
    this.#stream = stream;
    this.#name = name;
    // The listener is never removed, because a write after the end would emit an unhandled error.
    if ("on" in stream) stream.on("error", (error: NodeJS.ErrnoException) => this.#end(error));
  }

  /** True if the reader has closed the other end, as `head` does. */
  get isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  async write(line: string): Promise<void> {
    await this.writePart(`${line}\n`);
  }

  /** Writes a text without a line end after it. */
  async writePart(text: string): Promise<void> {
    this.#buffer += text;
    if (this.#buffer.length >= chunkLength) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = "";
    if (text !== "" && !this.isEnded && this.#stream.write(text) === false) await this.#drain();
    this.#assertWritten();
  }

  /** Writes the buffered lines, and closes the stream after all of them are written. */
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
    if (this.#failure !== undefined) throw new FileFailedError({ path: this.#name }, this.#failure);
  }

  async #drain(): Promise<void> {
    try {
      await once(this.#stream, "drain", { signal: this.#ending.signal });
    } catch (error) {
      if (!this.isEnded) throw error;
    }
  }

  #end(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") this.#failure ??= error;
    this.#ending.abort();
  }
}
