import { basename } from "node:path";
import { clearTimeout, setTimeout as startTimer } from "node:timers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { CorruptionError } from "../../errors/core-errors.js";
import type { Progress } from "../progress.js";
import type { FileReport } from "./file-report.js";

/** A file of at most this many bytes is checked while it is opened. */
const maxBytesAtOpen = 8 * 1024 * 1024;
/** Milliseconds of rest after each turn of a check in the background. */
const backgroundRest = 20;
/** Milliseconds between two checks in the background. */
const repeatAfter = 24 * 60 * 60 * 1000;
/** Milliseconds until a check that has ended early is repeated. */
const repeatEarly = 10 * 60 * 1000;

/** One check of all entries of a file. */
export interface EntryCheck {
  /** The name of the file in reports. */
  readonly file: string;
  /** The size of the file. */
  readonly bytes: number;
  /** True for a file that is checked while it is opened. */
  readonly isSmall: boolean;
  /** Waits after each turn, so that other work gets its turn. */
  readonly rest: () => Promise<void>;
  readonly onProgress: (progress: Progress<"checking">) => void;
  /** Ends the check early. Its report is then empty. */
  readonly signal: AbortSignal;
}

/** A file whose entries can be checked. */
export interface CheckedFile {
  readonly path: string;
  /** Returns the bytes of the file and its log. */
  readonly size: () => Promise<number>;
  /** Reads all entries of one state. */
  readonly check: (check: EntryCheck) => Promise<FileReport>;
  /**
   * True if the file has grown too much since a check in the background began. The check then ends
   * early, because the file cannot reuse space while the check keeps one state.
   *
   * @param size the size when the check began.
   */
  readonly hasGrown: (size: number) => Promise<boolean>;
}

/** Checks the entries of a file: when it is opened, and once a day while it is open. */
export class EntryChecker {
  readonly #file: CheckedFile;
  readonly #onDamage: (error: CorruptionError) => void;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> | undefined;

  constructor(file: CheckedFile, onDamage: (error: CorruptionError) => void) {
    this.#file = file;
    this.#onDamage = onDamage;
  }

  /**
   * Checks a small file now and a large one in the background.
   *
   * @throws {CorruptionError} if a small file is damaged.
   */
  async start(): Promise<void> {
    const isSmall = (await this.#file.size()) <= maxBytesAtOpen;
    if (isSmall) {
      const error = this.#errorOf(await this.#check(restShort, () => undefined));
      if (error !== undefined) throw error;
    }
    this.#schedule(isSmall ? repeatAfter : 0);
  }

  /** Checks all entries now. */
  async verify(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport> {
    const report = await this.#check(restShort, onProgress);
    this.#report(report);
    return report;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort();
    await this.#running;
  }

  async #check(
    rest: () => Promise<void>,
    onProgress: (progress: Progress<"checking">) => void,
    signal = this.#closing.signal,
  ): Promise<FileReport> {
    const bytes = await this.#file.size();
    const isSmall = bytes <= maxBytesAtOpen;
    const file = basename(this.#file.path);
    const checking = this.#file.check({ file, bytes, isSmall, rest, onProgress, signal });
    this.#running = Promise.allSettled([this.#running, checking]);
    return await checking;
  }

  /** Does not keep the process alive, and ends when the database is closed. */
  async #restLong(): Promise<void> {
    const { signal } = this.#closing;
    await setTimeout(backgroundRest, undefined, { ref: false, signal }).catch(() => undefined);
  }

  #schedule(delay: number): void {
    this.#timer = startTimer(() => {
      // A read that fails for another reason than damage is repeated with the next check.
      void this.#checkInBackground()
        .catch(() => repeatAfter)
        .then((next) => {
          if (!this.#closing.signal.aborted) this.#schedule(next);
        });
    }, delay);
    this.#timer.unref();
  }

  /** Resolves with the milliseconds until the next check. */
  async #checkInBackground(): Promise<number> {
    const size = await this.#file.size();
    const growing = new AbortController();
    const rest = async () => {
      await this.#restLong();
      if (await this.#file.hasGrown(size)) growing.abort();
    };
    const signal = AbortSignal.any([this.#closing.signal, growing.signal]);
    this.#report(await this.#check(rest, () => undefined, signal));
    return growing.signal.aborted ? repeatEarly : repeatAfter;
  }

  #report(report: FileReport): void {
    const error = this.#errorOf(report);
    if (error !== undefined) this.#onDamage(error);
  }

  #errorOf({ damages }: FileReport): CorruptionError | undefined {
    const [first, ...others] = damages;
    if (first === undefined) return undefined;
    const more = others.length === 0 ? "" : `; ${others.length} more places are damaged`;
    const { reason, firstKey } = first;
    return new CorruptionError(`${reason}${more}`, firstKey, undefined, this.#file.path, first);
  }
}

async function restShort(): Promise<void> {
  await setImmediate();
}
