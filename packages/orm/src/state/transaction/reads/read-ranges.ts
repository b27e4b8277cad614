import type { AtomicOperation, KeyOrder, Kv, KvKey, KvListSelector, KvView } from "@keywright/core";
import { selectorUpTo } from "../buffer/list-range.js";
import { mergedSelectors } from "../buffer/merged-selectors.js";

/** A range that a transaction lists, as far as it has come. */
export interface ReadRange {
  readonly selector: KvListSelector;
  readonly reverse: boolean;
  /** The last key that the list has reached. */
  reached: KvKey | undefined;
  /** True if the list has come to the end of the range. */
  isWhole: boolean;
}

/**
 * The ranges through which a transaction has looked in one state of the database. Its commit checks
 * that no key of them has changed since, and so needs no checks of the entries in them.
 */
export class ReadRanges {
  readonly #view: Pick<KvView, "versionstamp">;
  readonly #order: KeyOrder;
  readonly #ranges: ReadRange[] = [];

  constructor(view: Pick<KvView, "versionstamp">, order: KeyOrder) {
    this.#view = view;
    this.#order = order;
  }

  /** The versionstamp of the state. Undefined if it is not known before the first read. */
  get versionstamp(): string | undefined {
    return this.#view.versionstamp;
  }

  /** Begins a list of a range. What the list has reached by the commit is checked. */
  begin(selector: KvListSelector, reverse: boolean): ReadRange {
    const range: ReadRange = { selector, reverse, reached: undefined, isWhole: false };
    this.#ranges.push(range);
    return range;
  }

  /** Adds the checks to a commit, the next one in each step. */
  *addTo(operation: AtomicOperation): Generator<void> {
    for (const selector of this.#selectors()) {
      // What has been reached has been read, so the versionstamp is known.
      operation.checkRange!(selector, this.versionstamp!);
      yield;
    }
  }

  /** Returns the first parts of the keys of the first range in which a key has changed since. */
  async firstChanged(kv: Pick<Kv, "atomic">): Promise<KvKey | undefined> {
    for (const selector of this.#selectors()) {
      const { ok } = await kv.atomic().checkRange!(selector, this.versionstamp!).commit();
      if (!ok) return "prefix" in selector ? selector.prefix : selector.start;
    }
    return undefined;
  }

  /** The pages of a list, and ranges that were listed several times, are one. */
  #selectors(): KvListSelector[] {
    const selectors: KvListSelector[] = [];
    for (const { selector, reverse, reached, isWhole } of this.#ranges) {
      if (isWhole) selectors.push(selector);
      else if (reached !== undefined) selectors.push(selectorUpTo(selector, reached, reverse));
    }
    return mergedSelectors(selectors, this.#order);
  }
}
