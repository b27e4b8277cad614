import { closeSync, fstatSync, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { syncPath } from "./sync-path.js";

/**
 * Makes synced batches of LevelDB survive a power failure. LevelDB syncs the log file to which it
 * appends a batch. It does not sync the folder after it has started a new log file, so the file may
 * be missing after a power failure, and it does not sync the unsynced end of the log file before.
 *
 * A batch is in the known log file if the file has grown. If not, LevelDB has started a new one.
 */
export class LogSync {
  readonly #folder: string;
  /** The descriptor of the log file that is known to be in the folder on disk. */
  #log: number | undefined;
  /** The size of that file after the last batch, in bytes. Undefined after an unsynced batch. */
  #size: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Call this before each batch. */
  beforeBatch(sync: boolean): void {
    this.#size = sync ? (this.#size ?? this.#sizeOfLog()) : undefined;
  }

  /** Call this after each synced batch. Returns a promise if LevelDB has started a new log file. */
  afterBatch(): Promise<void> | undefined {
    const size = this.#sizeOfLog();
    if (size === this.#size) return this.#syncLogs();
    this.#size = size;
    return undefined;
  }

  close(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  #sizeOfLog(): number {
    return this.#log === undefined ? 0 : fstatSync(this.#log).size;
  }

  async #syncLogs(): Promise<void> {
    const logs = (await readdir(this.#folder)).filter((name) => /^\d+\.log$/.test(name));
    for (const log of logs) await this.#syncLog(join(this.#folder, log));
    await syncPath(this.#folder);
    // LevelDB numbers its files in the order of their creation, with at least six digits.
    const newest = logs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1);
    this.close();
    this.#log = newest === undefined ? undefined : openSync(join(this.#folder, newest), "r");
    this.#size = this.#sizeOfLog();
  }

  async #syncLog(path: string): Promise<void> {
    try {
      await syncPath(path);
    } catch (error) {
      // LevelDB deletes a log file after it has synced the table file with the same content.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
