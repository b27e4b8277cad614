import { Buffer } from "node:buffer";
import { encodeKey, type KvKey } from "@keywright/core";
import { addTo, emptySize, type Size } from "./size.js";

/** Entries of no model that have one first part. */
export interface OtherSize extends Size {
  readonly prefix: KvKey;
}

/** So many first parts are told apart. */
const mostKept = 20;

/**
 * Adds up the entries of no model by the first parts of their keys. Entries come in the order of their keys, so that those with
 * one first part follow each other: only the largest are kept.
 */
export class OtherSizes {
  readonly #rest: Size = emptySize();
  #kept: OtherSize[] = [];

  /** The size to which an entry is added, which is the next one in the order of keys. */
  sizeFor(key: KvKey): Size {
    const prefix = key.slice(0, 1);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSameKey(last.prefix, prefix)) return last;
    this.#dropSmallest();
    const size = { prefix, ...emptySize() };
    this.#kept.push(size);
    return size;
  }

  /** The largest, in the order of keys, and all others together. */
  get sizes(): { readonly largest: readonly OtherSize[]; readonly rest: Size } {
    return { largest: this.#kept, rest: this.#rest };
  }

  #dropSmallest(): void {
    if (this.#kept.length < mostKept) return;
    const smallest = this.#kept.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    this.#kept = this.#kept.filter((size) => size !== smallest);
    addTo(this.#rest, smallest.bytes, smallest.keys);
  }
}

function isSameKey(a: KvKey, b: KvKey): boolean {
  return Buffer.from(encodeKey(a)).equals(encodeKey(b));
}
