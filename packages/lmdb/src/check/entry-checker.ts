import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { clearTimeout, setTimeout as startTimer } from "node:timers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { CorruptionError, type FileReport, type Progress } from "@keywright/core";
import type { LmdbStore } from "../file/lmdb-store.js";
import { checkEntries } from "./check-entries.js";

/** A file of at most this many bytes is checked while it is opened. */
const maxBytesAtOpen = 8 * 1024 * 1024;
/** Milliseconds of rest after each 1,000 entries of a check in the background. */
const backgroundRest = 20;
/** Milliseconds between two checks in the background. */
const repeatAfter = 24 * 60 * 60 * 1000;
/** Milliseconds until a check that has ended early is repeated. */
const repeatEarly = 10 * 60 * 1000;
/**
 * A check in the background ends early if the file has grown by this part of its size. While a
 * check reads one state, LMDB cannot use the pages of that state again, so writers make the file
 * grow.
 */
const mostGrowth = 1 / 8;

/** Checks the entries of an LMDB file: when it is opened, and once a day while it is open. */
export class EntryChecker {
  readonly #store: LmdbStore;
  readonly #path: string;
  readonly #onDamage: (error: CorruptionError) => void;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> | undefined;

  constructor(store: LmdbStore, path: string, onDamage: (error: CorruptionError) => void) {
    this.#store = store;
    this.#path = path;
    this.#onDamage = onDamage;
  }

  /**
   * Checks a small file now and a large one in the background.
   *
   * @throws {CorruptionError} if a small file is damaged.
   */
  async start(): Promise<void> {
    const isSmall = (await stat(this.#path)).size <= maxBytesAtOpen;
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
    const { size } = await stat(this.#path);
    const file = basename(this.#path);
    const checking = checkEntries(this.#store, { file, bytes: size, rest, onProgress, signal });
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
    const { size } = await stat(this.#path);
    const growing = new AbortController();
    const rest = async () => {
      await this.#restLong();
      if ((await stat(this.#path)).size > size * (1 + mostGrowth)) growing.abort();
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
    return new CorruptionError(
      `${first.reason}${more}`,
      first.firstKey,
      undefined,
      this.#path,
      first,
    );
  }
}

async function restShort(): Promise<void> {
  await setImmediate();
}
