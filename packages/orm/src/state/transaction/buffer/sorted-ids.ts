import type { KeyId } from "./key-id.js";
import type { IdRange } from "./list-range.js";

/**
 * The short list is limited to `baseLimit` ids, plus `limitPerRoot` times the square root of the
 * length of the main list. A higher limit makes insertions slower, but sorts less frequent.
 */
const baseLimit = 32;
const limitPerRoot = 8;

export class SortedIds {
  /** Most ids, sorted. */
  #main: KeyId[] = [];
  /** The other ids, sorted. The list is short, so that an insertion costs little. */
  #recent: KeyId[] = [];
  /** Ids that were added after the last read, unsorted. */
  #added: KeyId[] = [];

  add(id: KeyId): void {
    this.#added.push(id);
  }

  /**
   * Returns the first id of a range, or after `last`. In reverse, the last one, or before `last`.
   */
  next(range: IdRange, last: KeyId | undefined, reverse: boolean): KeyId | undefined {
    if (this.#added.length > 0) this.#sort();
    const fromMain = nextOf(this.#main, range, last, reverse);
    const fromRecent = nextOf(this.#recent, range, last, reverse);
    if (fromMain === undefined || fromRecent === undefined) return fromMain ?? fromRecent;
    return fromMain < fromRecent === reverse ? fromRecent : fromMain;
  }

  #sort(): void {
    const recent = this.#recent;
    const limit = baseLimit + limitPerRoot * Math.sqrt(this.#main.length);
    if (recent.length + this.#added.length <= limit) {
      for (const id of this.#added) recent.splice(firstFrom(recent, id), 0, id);
    } else {
      // The list consists of sorted runs, which makes the sort fast.
      this.#main = this.#main.concat(recent, this.#added.sort()).sort();
      this.#recent = [];
    }
    this.#added = [];
  }
}

function nextOf(
  sorted: readonly KeyId[],
  range: IdRange,
  last: KeyId | undefined,
  reverse: boolean,
): KeyId | undefined {
  if (reverse) {
    const id = sorted[firstFrom(sorted, last ?? range.end) - 1];
    return id !== undefined && id >= range.start ? id : undefined;
  }
  let index = firstFrom(sorted, last ?? range.start);
  if (last !== undefined && sorted[index] === last) index++;
  const id = sorted[index];
  return id !== undefined && id < range.end ? id : undefined;
}

function firstFrom(sorted: readonly KeyId[], bound: KeyId): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as KeyId) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
