import type { KeyId } from "./key-id.js";
import type { IdRange } from "./list-range.js";

/** To put one more in its place costs as much as there are few, to sort all once in a while as much as there are many. */
const fewest = 32;
const fewPerRoot = 8;

/** Ids, to which more are added all the time, in order. */
export class SortedIds {
  /** Most of them. */
  #many: KeyId[] = [];
  /** The others: few enough that one more among them costs little. */
  #few: KeyId[] = [];
  /** Those that came since anybody has looked, in no order. */
  #added: KeyId[] = [];

  /** Adds one that is not among them. */
  add(id: KeyId): void {
    this.#added.push(id);
  }

  /** The next id of a range: its first, or the one behind `last`; in reverse its last, or the one before `last`. */
  next(range: IdRange, last: KeyId | undefined, reverse: boolean): KeyId | undefined {
    if (this.#added.length > 0) this.#sort();
    const one = nextOf(this.#many, range, last, reverse);
    const other = nextOf(this.#few, range, last, reverse);
    if (one === undefined || other === undefined) return one ?? other;
    return one < other === reverse ? other : one;
  }

  #sort(): void {
    const few = this.#few;
    const most = fewest + fewPerRoot * Math.sqrt(this.#many.length);
    if (few.length + this.#added.length <= most) {
      for (const id of this.#added) few.splice(firstFrom(few, id), 0, id);
    } else {
      // Most of it is in order already, which a sort makes use of.
      this.#many = this.#many.concat(few, this.#added.sort()).sort();
      this.#few = [];
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

/** The index of the first id that is not before `bound`. */
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
