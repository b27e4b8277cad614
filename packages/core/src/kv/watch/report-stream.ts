import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import { keepAlive } from "../keep-alive.js";

const maxDelay = 2 ** 31 - 1;

export interface ReportSource<Report extends object> {
  /**
   * Returns the report that is due, or undefined if there is none. Called for the first read, after
   * each change, and at `dueAt`.
   */
  next(): Report | undefined | Promise<Report | undefined>;
  /** Returns when a report is due even without a change, in milliseconds since the epoch. */
  dueAt?(): number;
  /** Calls `onChange` after each change. The returned function ends that. */
  subscribe(onChange: () => void): () => void;
  /** Called when the stream has ended, for any reason. */
  onEnd(): void;
}

/**
 * A stream that makes a report only when its reader asks for the next one. `end()` closes it. A
 * pending read keeps the process alive, a stream without one does not.
 */
export class ReportStream<Report extends object> {
  readonly stream: ReadableStream<Report>;
  readonly #source: ReportSource<Report>;
  readonly #unsubscribe: () => void;
  #hasChanged = true;
  #hasEnded = false;
  #wake: () => void = () => undefined;
  #controller: ReadableStreamDefaultController<Report> | undefined;

  constructor(source: ReportSource<Report>) {
    this.#source = source;
    this.#unsubscribe = source.subscribe(() => this.#onChange());
    const underlying: UnderlyingSource<Report> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#stop(),
    };
    // Nothing is read ahead, because a report shows the state at the time of the read.
    this.stream = new ReadableStream(underlying, { highWaterMark: 0 });
  }

  /** Closes the stream, even if a read is pending. */
  end(): void {
    if (this.#hasEnded) return;
    this.#stop();
    this.#controller?.close();
  }

  async #pull(): Promise<void> {
    const release = keepAlive();
    try {
      while (!this.#hasEnded) {
        if (!this.#hasChanged) await this.#change();
        this.#hasChanged = false;
        if (await this.#report()) return;
      }
    } finally {
      release();
    }
  }

  async #report(): Promise<boolean> {
    try {
      const report = await this.#source.next();
      if (this.#hasEnded) return true;
      if (report === undefined) return false;
      this.#controller?.enqueue(report);
      return true;
    } catch (error) {
      // The database may have been closed during the read.
      if (this.#hasEnded) return true;
      this.#stop();
      throw error;
    }
  }

  /** Resolves at the next change, or when a report is due without one. */
  async #change(): Promise<void> {
    const dueAt = this.#source.dueAt?.() ?? Number.POSITIVE_INFINITY;
    const delay = Math.max(dueAt - Date.now(), 0);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (Number.isFinite(delay)) timer = setTimeout(resolve, Math.min(delay, maxDelay));
    });
    clearTimeout(timer);
  }

  #onChange(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  #stop(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#unsubscribe();
    this.#wake();
    this.#source.onEnd();
  }
}
