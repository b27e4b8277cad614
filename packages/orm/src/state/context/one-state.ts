import type {
  Kv,
  KvEntryMaybe,
  KvKey,
  KvListIterator,
  KvListOptions,
  KvListSelector,
  KvPages,
  KvView,
} from "@keywright/core";
import type { Capabilities, KvReads } from "../catalog/capabilities-of.js";
import { type CatalogSnapshot, lastSnapshotNumber } from "../catalog/catalog-snapshot.js";

/** Thrown by a read of a call if the database or a catalog has changed since the first one. */
export class StateChangedError extends Error {}

/**
 * Which reads of a call see one state:
 *
 * - `"keys"`: all reads, without a view as long as this is possible. They must not overlap.
 * - `"all"`: all reads, from a view
 * - `"pages"`: the reads of each page
 */
export type OneStateReads = "keys" | "all" | "pages";

/**
 * The reads of one call, all from one state of the database. Opening a view takes longer than
 * reading a key. So keys, and pages of synchronous databases, are read without a view as long as
 * nothing is committed. After a commit between two reads, the call has to be repeated with a view.
 */
export class OneState implements KvReads {
  readonly #kv: Kv;
  readonly #capabilities: Capabilities;
  readonly #seen: OneStateReads;
  /** The last commit of the state that was read first. Undefined if it is not known. */
  versionstamp: string | undefined;
  /** What is read from: undefined at first, and the database itself if it has no views. */
  #source: KvReads | undefined;
  #view: KvView | undefined;
  /** The last snapshot of a catalog when the view was opened. */
  #lastSnapshot = 0;
  #hasRead = false;
  #hasEnded = false;

  constructor(kv: Kv, capabilities: Capabilities, seen: OneStateReads) {
    this.#kv = kv;
    this.#capabilities = capabilities;
    this.#seen = seen;
  }

  get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    return this.#sourceOfKeys().get<T>(key);
  }

  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    return this.#sourceOfKeys().getMany<T>(keys);
  }

  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T> {
    return this.#sourceOfLists().list<T>(selector, options);
  }

  /** Asked for by each read of a page, after it has chosen its keys. */
  get pages(): KvPages | undefined {
    const source = this.#capabilities.listsAtOnce ? this.#sourceOfKeys() : this.#sourceOfLists();
    return source.pages;
  }

  /** The next page of a stream reads the newest state. */
  beginPage(): void {
    if (this.#seen === "pages") this.#renew();
  }

  /**
   * Gives the state up, because it is too old.
   *
   * @throws {StateChangedError} unless the page of a stream can be read again.
   */
  leave(): void {
    if (this.#seen !== "pages") throw new StateChangedError();
    this.#renew();
  }

  /**
   * Refuses a catalog that was read after the view was opened. It may say that an index is
   * readable, or at another place, which is not so in the state.
   *
   * @param isRelated true if the rows are read for those of another model.
   * @throws {StateChangedError} unless the next page of a stream is read by the catalog anyway.
   */
  assertCovers({ number }: CatalogSnapshot, isRelated: boolean): void {
    if (this.#view === undefined || number <= this.#lastSnapshot) return;
    if (this.#seen !== "pages" || isRelated) throw new StateChangedError();
  }

  /**
   * Keeps the state that was read, so that others may commit without the call being repeated.
   *
   * @throws {StateChangedError} if the database has changed since the first read.
   */
  hold(): void {
    if (!this.#hasRead || this.#source !== undefined || !this.#capabilities.hasViews) return;
    const { versionstamp } = this;
    this.#sourceOfLists();
    if (this.#view !== undefined) return;
    // Without a view, the next read notices a change.
    this.#source = undefined;
    this.versionstamp = versionstamp;
  }

  /** Frees the view. A read that comes too late opens none. */
  close(): void {
    this.#hasEnded = true;
    this.#view?.close();
  }

  #renew(): void {
    this.#view?.close();
    this.#view = undefined;
    this.#source = undefined;
  }

  #sourceOfKeys(): KvReads {
    if (this.#source !== undefined) return this.#source;
    const { lastVersionstamp } = this.#capabilities;
    this.#assertUnchanged(lastVersionstamp);
    if (this.#seen !== "keys" || lastVersionstamp === undefined) return this.#open();
    this.versionstamp = lastVersionstamp;
    this.#hasRead = true;
    return this.#kv;
  }

  #sourceOfLists(): KvReads {
    if (this.#source !== undefined) return this.#source;
    this.#assertUnchanged(this.#capabilities.lastVersionstamp);
    return this.#open();
  }

  #assertUnchanged(lastVersionstamp: string | undefined): void {
    if (!this.#hasRead) return;
    if (lastVersionstamp === undefined || lastVersionstamp !== this.versionstamp)
      throw new StateChangedError();
  }

  #open(): KvReads {
    this.#lastSnapshot = lastSnapshotNumber();
    const { lastVersionstamp } = this.#capabilities;
    if (!this.#hasEnded) this.#view = this.#capabilities.openView();
    const isKnown =
      this.#view !== undefined && this.#capabilities.lastVersionstamp === lastVersionstamp;
    // Another process may have committed since the last read, or while the view was opened.
    if (this.#view !== undefined) this.#assertUnchanged(isKnown ? lastVersionstamp : undefined);
    this.versionstamp = isKnown ? lastVersionstamp : undefined;
    this.#source = this.#view ?? this.#kv;
    return this.#source;
  }
}
