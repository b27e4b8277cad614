import type { CorruptionError } from "../../../errors/core-errors.js";
import type { FileDamage, FileReport } from "../../files/file-report.js";
import { type Progress, ProgressMeter } from "../../progress.js";
import { checkInWorker, type TableCheck } from "./check-in-worker.js";
import { checkTables } from "./check-tables.js";
import { readCurrent, writeClosedMark } from "./closed-mark.js";
import { bytesOf, type LogFile, readDatabaseFiles, readTables } from "./database-files.js";
import { fileCorruption } from "./file-corruption.js";
import { missingTables, verifyDatabaseFiles } from "./verify-database-files.js";

/** Options of the check of a database's files while the database is open. */
export interface FileCheckOptions {
  /**
   * The time after which a file is checked again, in milliseconds. The default is a day. New files
   * are checked within a minute, or within this time if it is shorter.
   */
  readonly repeatAfter?: number | undefined;
  /** The maximum number of bytes that are read per second. The default is 32 MiB. */
  readonly bytesPerSecond?: number | undefined;
  /** Called after each file that was checked in the background. */
  readonly onProgress?: ((progress: Progress<"checking">) => void) | undefined;
}

/** Tables of at most this many bytes in total are checked while the database is opened. */
const maxBytesAtOpen = 8 * 1024 * 1024;
const maxNewFileDelay = 60_000;

/**
 * Checks the files of the LevelDB database in a folder: before it is opened, and while it is open.
 */
export class FileChecker {
  readonly #folder: string;
  readonly #options: FileCheckOptions;
  /** The times at which tables were checked, by their names. */
  #checkedAt = new Map<string, number>();
  #onDamage: (error: CorruptionError) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: TableCheck | undefined;
  readonly #marksClose: boolean;
  #isClosed = false;
  #areTablesChecked = true;

  /** @param marksClose false if nothing may be written to the folder. */
  constructor(
    folder: string,
    options: FileCheckOptions,
    { marksClose = true }: { readonly marksClose?: boolean } = {},
  ) {
    this.#folder = folder;
    this.#options = options;
    this.#marksClose = marksClose;
  }

  /**
   * Checks the manifest and the logs, and the tables if they are small. Returns the logs.
   *
   * @throws {CorruptionError} if a file is damaged.
   */
  async checkBeforeOpen(): Promise<readonly LogFile[]> {
    const { tables, logs, damages } = await readDatabaseFiles(this.#folder);
    const found = [...damages];
    this.#areTablesChecked = bytesOf(tables) <= maxBytesAtOpen;
    if (found.length === 0 && this.#areTablesChecked) {
      const unlimited = { bytesPerSecond: Number.POSITIVE_INFINITY, keepsAlive: true };
      for await (const checked of checkTables(this.#folder, tables, unlimited)) {
        found.push(...checked.damages);
        this.#checkedAt.set(checked.name, Date.now());
      }
    }
    const error = this.#errorOf(found);
    if (error !== undefined) throw error;
    return logs;
  }

  /** Checks tables in the background from now on. */
  start(onDamage: (error: CorruptionError) => void): void {
    this.#onDamage = onDamage;
    this.#schedule(this.#areTablesChecked ? this.#delay : 0);
  }

  /** Checks all files now, without a limit of bytes per second. */
  async verify(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport> {
    const report = await verifyDatabaseFiles(this.#folder, onProgress);
    this.#report(report.damages);
    return report;
  }

  /**
   * Ends the check, and closes the database with `close`. Notes that it was closed, unless a write
   * has failed: it is unknown then whether the files are on disk.
   */
  async close(close: () => Promise<void>, hasFailed: boolean): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running?.stop();
    const current = await readCurrent(this.#folder).catch(() => undefined);
    await close();
    const isMarked = this.#marksClose && current !== undefined && !hasFailed;
    if (isMarked) await writeClosedMark(this.#folder, current);
  }

  get #repeatAfter(): number {
    return this.#options.repeatAfter ?? 24 * 60 * 60 * 1000;
  }

  get #delay(): number {
    return Math.min(this.#repeatAfter, maxNewFileDelay);
  }

  #schedule(delay: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      // A file that cannot be read, for example for lack of file descriptors, is tried again.
      void this.#checkDue()
        .catch(() => undefined)
        .then(() => this.#schedule(this.#delay));
    }, delay);
    this.#timer.unref();
  }

  async #checkDue(): Promise<void> {
    const tables = await readTables(this.#folder);
    if (this.#isClosed) return;
    const known = tables.flatMap(({ name }) => {
      const time = this.#checkedAt.get(name);
      return time === undefined ? [] : [[name, time] as const];
    });
    this.#checkedAt = new Map(known);
    const before = Date.now() - this.#repeatAfter;
    const due = tables.filter(({ name }) => !((this.#checkedAt.get(name) ?? before) > before));
    if (due.length === 0) return;
    const { bytesPerSecond = 32 * 1024 * 1024, onProgress = () => undefined } = this.#options;
    const options = { bytesPerSecond, keepsAlive: false };
    const meter = new ProgressMeter(onProgress);
    meter.begin("checking");
    let checked = 0;
    const absent = new Set<string>();
    this.#running = checkInWorker(this.#folder, due, options, ({ name, bytes, damages }) => {
      this.#checkedAt.set(name, Date.now());
      if (bytes === undefined) absent.add(name);
      this.#report(damages);
      checked += bytes ?? 0;
      meter.advance(checked, bytesOf(due));
    });
    try {
      await this.#running.done;
      this.#report(await missingTables(this.#folder, absent));
    } finally {
      this.#running = undefined;
    }
  }

  #report(damages: readonly FileDamage[]): void {
    const error = this.#errorOf(damages);
    if (error !== undefined) this.#onDamage(error);
  }

  #errorOf([first, ...others]: readonly FileDamage[]): CorruptionError | undefined {
    return first === undefined ? undefined : fileCorruption([first, ...others], this.#folder);
  }
}
