import { Buffer } from "node:buffer";
import { encodeKey, type KvKey } from "@keywright/core";
import { addTo, emptySize, type Size } from "./size.js";

/** The size of the entries with one first part that belong to no model. */
export interface OtherSize extends Size {
  readonly prefix: KvKey;
}

const maxKept = 20;

/** Entries must come in the order of keys, so that groups can be dropped on the way. */
export class OtherSizes {
  readonly #rest: Size = emptySize();
  #kept: OtherSize[] = [];

  /** Returns the size to add an entry to. Keys must be passed in order. */
  sizeFor(key: KvKey): Size {
    const prefix = key.slice(0, 1);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSameKey(last.prefix, prefix)) return last;
    this.#dropSmallest();
    const size = { prefix, ...emptySize() };
    this.#kept.push(size);
    return size;
  }

  get sizes(): { readonly largest: readonly OtherSize[]; readonly rest: Size } {
    return { largest: this.#kept, rest: this.#rest };
  }

  #dropSmallest(): void {
    if (this.#kept.length < maxKept) return;
    const smallest = this.#kept.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    this.#kept = this.#kept.filter((size) => size !== smallest);
    addTo(this.#rest, smallest.bytes, smallest.keys);
  }
}

function isSameKey(a: KvKey, b: KvKey): boolean {
  return Buffer.from(encodeKey(a)).equals(encodeKey(b));
}
