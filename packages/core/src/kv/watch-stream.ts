import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import { keepAlive } from "./keep-alive.js";
import type { KvEntryMaybe } from "./kv.js";

/** The longest time a timer can wait. */
const maxDelay = 2 ** 31 - 1;

export interface WatchSource {
  /** Reads the keys, from one snapshot. */
  read(): Promise<KvEntryMaybe<unknown>[]>;
  /** Calls `onChange` after each commit that changed one of the keys, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  /** Called when the stream has ended, whoever ended it. */
  onEnd(): void;
}

/** A stream of the latest state of some keys: `end()` closes it. */
export class WatchStream {
  readonly stream: ReadableStream<KvEntryMaybe<unknown>[]>;
  readonly #source: WatchSource;
  readonly #isRaw: boolean;
  readonly #unsubscribe: () => void;
  /** The versionstamps that were reported last. */
  #reported: (string | null)[] | undefined;
  /** When the first of the reported entries expires: no commit tells of that. */
  #expireAt = Number.POSITIVE_INFINITY;
  #hasChanged = true;
  #hasEnded = false;
  #wake: () => void = () => undefined;
  #controller: ReadableStreamDefaultController<KvEntryMaybe<unknown>[]> | undefined;

  constructor(source: WatchSource, isRaw: boolean) {
    this.#source = source;
    this.#isRaw = isRaw;
    this.#unsubscribe = source.subscribe(() => this.#onChange());
    const underlying: UnderlyingSource<KvEntryMaybe<unknown>[]> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#stop(),
    };
    // Nothing is read ahead: what is reported is the state at the time when somebody asks.
    this.stream = new ReadableStream(underlying, { highWaterMark: 0 });
  }

  /** Closes the stream, also where somebody waits for its next state. */
  end(): void {
    if (this.#hasEnded) return;
    this.#stop();
    this.#controller?.close();
  }

  /** Reports the next state that differs from the last one. */
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

  /** Reads the keys, and hands on what is there where it is news. True where nothing is left to do. */
  async #report(): Promise<boolean> {
    try {
      const entries = await this.#source.read();
      if (this.#hasEnded) return true;
      const versionstamps = entries.map((entry) => entry.versionstamp);
      const isNews = versionstamps.some((each, index) => each !== this.#reported?.[index]);
      this.#reported = versionstamps;
      this.#expireAt = firstExpiry(entries);
      if (!isNews && !this.#isRaw) return false;
      this.#controller?.enqueue(entries);
      return true;
    } catch (error) {
      // The database may have been closed while it was read.
      if (this.#hasEnded) return true;
      this.#stop();
      throw error;
    }
  }

  /** Resolves at the next change, or when an entry expires. */
  async #change(): Promise<void> {
    const delay = Math.max(this.#expireAt - Date.now(), 0);
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

function firstExpiry(entries: readonly KvEntryMaybe<unknown>[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const expireAt = entry.versionstamp === null ? undefined : entry.expireAt;
    if (expireAt !== undefined && expireAt < first) first = expireAt;
  }
  return first;
}
