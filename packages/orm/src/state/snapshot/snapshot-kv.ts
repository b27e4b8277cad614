import {
  isKeywrightError,
  type Kv,
  type KvEntry,
  type KvEntryMaybe,
  type KvKey,
  type KvLimits,
  type KvListIterator,
  type KvListOptions,
  type KvListSelector,
  type KvPages,
  type KvView,
  type ReadViewEndedError,
} from "@keywright/core";
import { SnapshotEndedError } from "../../errors/transaction-errors.js";
import { shareCapabilities } from "../catalog/capabilities-of.js";

/**
 * The reads of a snapshot, with the interface of a database. All of them see one state, until the
 * snapshot ends.
 */
export class SnapshotKv implements Kv {
  readonly limits: KvLimits;
  readonly pages: KvPages | undefined;
  readonly #view: KvView;
  /** Returns the error of all reads after the end. Undefined before. */
  #failure: (() => unknown) | undefined;
  /** Throws if the reads could be in the wrong places. */
  assertPlaces: () => void = () => undefined;

  constructor(kv: Kv, view: KvView) {
    this.limits = view.limits;
    this.#view = view;
    this.pages = view.pages && this.#pagesOf(view.pages);
    shareCapabilities(this, kv);
  }

  get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    return this.read(() => this.#view.get<T>(key));
  }

  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    return this.read(() => this.#view.getMany<T>(keys));
  }

  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T> {
    this.assertOpen();
    return new SnapshotList<T>(this, this.#view.list<T>(selector, options));
  }

  #pagesOf(pages: KvPages): KvPages {
    return {
      listsAtOnce: false,
      list: (selector, options) => this.read(async () => pages.list(selector, options)),
      listEach: (prefixes, options) => this.read(async () => pages.listEach(prefixes, options)),
      countEach: (prefixes, keyLength) =>
        this.read(async () => pages.countEach(prefixes, keyLength)),
      getLinked: (entries, prefix, from) =>
        this.read(async () => pages.getLinked(entries, prefix, from)),
    };
  }

  /** @throws {SnapshotEndedError} after the end, or the reason of the signal that has ended it. */
  assertOpen(): void {
    if (this.#failure !== undefined) throw this.#failure();
  }

  /** Waits for a read of the state. */
  async read<T>(read: () => Promise<T>): Promise<T> {
    this.assertOpen();
    try {
      const result = await read();
      this.assertOpen();
      this.assertPlaces();
      return result;
    } catch (error) {
      this.assertOpen();
      if (!isViewEnded(error)) throw error;
      const { reason } = error;
      this.end(() => new SnapshotEndedError({ reason, cause: error }));
      throw new SnapshotEndedError({ reason, cause: error });
    }
  }

  /**
   * @param failure returns the error of later reads. By default, that of a function that has ended.
   */
  end(failure: () => unknown = () => new SnapshotEndedError()): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#view.close();
  }

  set(): never {
    return refuse();
  }

  delete(): never {
    return refuse();
  }

  atomic(): never {
    return refuse();
  }

  enqueue(): never {
    return refuse();
  }

  listenQueue(): never {
    return refuse();
  }

  watch(): never {
    return refuse();
  }

  close(): never {
    return refuse();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The repositories of a snapshot have refused the call before. */
function refuse(): never {
  throw new TypeError("A snapshot only reads.");
}

function isViewEnded(error: unknown): error is ReadViewEndedError {
  return isKeywrightError(error) && error.code === "KW_READ_VIEW_ENDED";
}

class SnapshotList<T> implements KvListIterator<T> {
  readonly #snapshot: SnapshotKv;
  readonly #entries: KvListIterator<T>;
  readonly nextBatch?: () => Promise<KvEntry<T>[]>;

  constructor(snapshot: SnapshotKv, entries: KvListIterator<T>) {
    this.#snapshot = snapshot;
    this.#entries = entries;
    if (entries.nextBatch !== undefined)
      this.nextBatch = () => snapshot.read(() => entries.nextBatch!());
  }

  get cursor(): string {
    return this.#entries.cursor;
  }

  next(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return this.#snapshot.read(() => this.#entries.next());
  }

  async return(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    await this.#entries.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
