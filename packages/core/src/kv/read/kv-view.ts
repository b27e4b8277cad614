import type { ReadView } from "../../engine/engine.js";
import type { KvKey } from "../../keys/key.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { KvEntryMaybe, KvListIterator, KvListOptions, KvView } from "../kv.js";
import type { KvPages } from "../kv-pages.js";
import type { KvLimits } from "../limits.js";
import type { KvReads } from "./kv-reads.js";

interface Ending {
  end(): void;
}

/** Closes views that a program has forgotten, for example in a stream that it does not end. */
const closedIfCollected = new FinalizationRegistry<Ending>((ending) => ending.end());

/** An engine's view, as those who read it hold it: it is closed when nobody holds it any longer. */
export class HeldView {
  readonly view: ReadView;
  readonly #ending: Ending;

  /** @param open what ends when the handle of the database is closed. */
  constructor(view: ReadView, open: Set<Ending>) {
    this.view = view;
    this.#ending = endingOf(view, open);
    open.add(this.#ending);
    closedIfCollected.register(this, this.#ending, this);
  }

  close(): void {
    closedIfCollected.unregister(this);
    this.#ending.end();
  }
}

/** It does not hold the {@link HeldView}, which could otherwise not be collected. */
function endingOf(view: ReadView, open: Set<Ending>): Ending {
  const ending = {
    end() {
      open.delete(ending);
      view.close();
    },
  };
  return ending;
}

/** Reads of one state of a database, for one handle of it. */
export class EmbeddedView implements KvView {
  readonly limits: KvLimits;
  readonly #reads: KvReads;
  readonly #held: HeldView;

  /** @param reads hold the view too, so that it is open as long as an iterator can read it. */
  constructor(limits: KvLimits, reads: KvReads, held: HeldView) {
    this.limits = limits;
    this.#reads = reads;
    this.#held = held;
  }

  get versionstamp(): string | undefined {
    return this.#held.view.versionstamp;
  }

  get pages(): KvPages | undefined {
    return this.#reads.pages;
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
    this.#held.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
