import type { ReadView } from "../../engine/engine.js";
import type { KvKey } from "../../keys/key.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { KvEntryMaybe, KvListIterator, KvListOptions, KvView } from "../kv.js";
import type { KvLimits } from "../limits.js";
import type { KvReads } from "./kv-reads.js";

/** Reads of one state of a database, for one handle of it. */
export class EmbeddedView implements KvView {
  readonly limits: KvLimits;
  readonly #reads: KvReads;
  readonly #view: ReadView;
  readonly #onClose: (view: EmbeddedView) => void;

  constructor(
    limits: KvLimits,
    reads: KvReads,
    view: ReadView,
    onClose: (view: EmbeddedView) => void,
  ) {
    this.limits = limits;
    this.#reads = reads;
    this.#view = view;
    this.#onClose = onClose;
  }

  get versionstamp(): string | undefined {
    return this.#view.versionstamp;
  }

  get<T = unknown>(key: KvKey): Promise<KvEntryMaybe<T>> {
    return this.#reads.get<T>(key);
  }

  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    return this.#reads.getMany<T>(keys);
  }

  list<T = unknown>(selector: KvListSelector, options?: KvListOptions): KvListIterator<T> {
    return this.#reads.list<T>(selector, options);
  }

  close(): void {
    this.#view.close();
    this.#onClose(this);
  }

  /** Called when the handle is closed. */
  end(): void {
    this.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
