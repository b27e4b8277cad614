import type { ReadableStreamDefaultController } from "node:stream/web";
import { keepAlive } from "../../engine/keep-alive.js";
import { type Open, Watch, wakeNobody } from "./watch.js";

const maxDelay = 2 ** 31 - 1;

export interface ReportSource<Report extends object> {
  /** Returns the report that is due. Called for the first read, after a change, and at `dueAt`. */
  next(): Report | undefined | Promise<Report | undefined>;
  /** Returns when a report is due even without a change, in milliseconds since the epoch. */
  dueAt?(): number;
  /**
   * Calls `onChange` after each change. The returned function ends that. Neither may refer to the
   * stream.
   */
  readonly subscribe: (onChange: () => void) => () => void;
}

/**
 * Returns a stream that makes a report only when its reader asks. A pending read keeps the process
 * alive. The stream is one of `open` until it ends, or until nothing refers to it any more.
 */
export function reportStream<Report extends object>(
  source: ReportSource<Report>,
  open: Open,
): ReadableStream<Report> {
  const watch = new Watch<Report>(source.subscribe, open);
  const reports = new Reports(source, watch);
  // Only the stream holds it. Browsers collect the object of a stream while its reader is in use.
  watch.endsWith(reports);
  // Nothing is read ahead, because a report shows the state at the time of the read.
  return new ReadableStream<Report>(reports, { highWaterMark: 0 });
}

/** The source of the stream. */
class Reports<Report extends object> {
  readonly #source: ReportSource<Report>;
  readonly #watch: Watch<Report>;
  #controller: ReadableStreamDefaultController<Report> | undefined;

  constructor(source: ReportSource<Report>, watch: Watch<Report>) {
    this.#source = source;
    this.#watch = watch;
  }

  start(controller: ReadableStreamDefaultController<Report>): void {
    this.#controller = controller;
    this.#watch.closes(controller);
  }

  async pull(): Promise<void> {
    const watch = this.#watch;
    const release = keepAlive();
    try {
      while (!watch.hasEnded) {
        if (!watch.hasChanged) await this.#change();
        watch.hasChanged = false;
        if (await this.#report()) return;
      }
    } finally {
      release();
    }
  }

  cancel(): void {
    this.#watch.stop();
  }

  async #report(): Promise<boolean> {
    const watch = this.#watch;
    try {
      const report = await this.#source.next();
      if (watch.hasEnded) return true;
      if (report === undefined) return false;
      this.#controller?.enqueue(report);
      return true;
    } catch (error) {
      // The database may have been closed during the read.
      if (watch.hasEnded) return true;
      watch.stop();
      throw error;
    }
  }

  /** Resolves at the next change, or when a report is due without one. */
  async #change(): Promise<void> {
    const dueAt = this.#source.dueAt?.() ?? Number.POSITIVE_INFINITY;
    const delay = Math.max(dueAt - Date.now(), 0);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#watch.wake = resolve;
      if (Number.isFinite(delay)) timer = setTimeout(resolve, Math.min(delay, maxDelay));
    });
    this.#watch.wake = wakeNobody;
    clearTimeout(timer);
  }
}
