import { once } from "node:events";
import { FileFailedError } from "../../errors/inspect-errors.js";
import type { Terminal } from "../terminal.js";

/** Characters that are gathered for one write. */
const chunkLength = 0x4000;

/** Standard output for many lines: no faster than they are read, and to an end where nobody reads them any more. */
export class LineOutput {
  readonly #stdout: NodeJS.WriteStream;
  readonly #ended = new AbortController();
  #failure: unknown;
  #gathered = "";

  constructor({ stdout }: Terminal) {
    this.#stdout = stdout;
    // It stays: what is written behind the end would be an error that nobody listens to.
    if ("on" in stdout) stdout.on("error", (error: NodeJS.ErrnoException) => this.#end(error));
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
    if (text !== "" && !this.isEnded && this.#stdout.write(text) === false) await this.#drained();
    if (this.#failure !== undefined) throw new FileFailedError("standard output", this.#failure);
  }

  async #drained(): Promise<void> {
    try {
      await once(this.#stdout, "drain", { signal: this.#ended.signal });
    } catch (error) {
      if (!this.isEnded) throw error;
    }
  }

  #end(error: NodeJS.ErrnoException): void {
    if (error.code !== "EPIPE") this.#failure = error;
    this.#ended.abort();
  }
}
