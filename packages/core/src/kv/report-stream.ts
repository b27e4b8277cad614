import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import { keepAlive } from "./keep-alive.js";

/** The longest time a timer can wait. */
const maxDelay = 2 ** 31 - 1;

/** What a stream reports, and when. */
export interface ReportSource<Report extends object> {
  /** The report that is due; undefined where there is none. It is asked for at first, and after each change. */
  next(): Report | undefined | Promise<Report | undefined>;
  /** From when on a report is due also without a change: milliseconds since the epoch. */
  dueAt?(): number;
  /** Calls `onChange` at each change, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  /** Called when the stream has ended, whoever ended it. */
  onEnd(): void;
}

/**
 * A stream that makes a report when somebody asks for the next one, and not before: `end()` closes it. While somebody
 * waits for a report the process stays alive, and a stream that nobody reads holds no process.
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
    // Nothing is read ahead: what is reported is the state at the time when somebody asks.
    this.stream = new ReadableStream(underlying, { highWaterMark: 0 });
  }

  /** Closes the stream, also where somebody waits for its next report. */
  end(): void {
    if (this.#hasEnded) return;
    this.#stop();
    this.#controller?.close();
  }

  /** Hands on the next report. */
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

  /** Hands on a report where one is due. True where nothing is left to do. */
  async #report(): Promise<boolean> {
    try {
      const report = await this.#source.next();
      if (this.#hasEnded) return true;
      if (report === undefined) return false;
      this.#controller?.enqueue(report);
      return true;
    } catch (error) {
      // The database may have been closed while it was read.
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
