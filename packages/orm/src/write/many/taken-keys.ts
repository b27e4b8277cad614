import type { KvKey } from "@keywright/core";
import { keyText } from "../../model/keys/key-text.js";
import { groupsAtOnce } from "./write-each.js";

/** The unique keys of the rows of one call that may be in progress at the same time. */
export class TakenKeys {
  #newer = new KeySet();
  #older = new KeySet();
  #groups = 0;

  /**
   * Call this before the keys of each group. Forgets keys of groups that have ended: at most
   * {@link groupsAtOnce} are in progress.
   */
  ofNextGroup(): this {
    if (++this.#groups > groupsAtOnce) {
      this.#older = this.#newer;
      this.#newer = new KeySet();
      this.#groups = 1;
    }
    return this;
  }

  /** Returns false if the key was taken. */
  add(key: KvKey): boolean {
    return !this.#older.has(key) && this.#newer.add(key);
  }
}

/**
 * A set of keys. A key of two parts that ends in a string is stored without encoding it as text.
 */
class KeySet {
  readonly #strings = new Map<unknown, Set<string>>();
  readonly #texts = new Set<string>();

  has(key: KvKey): boolean {
    return isPair(key)
      ? (this.#strings.get(key[0])?.has(key[1]) ?? false)
      : this.#texts.has(keyText(key));
  }

  add(key: KvKey): boolean {
    const set = isPair(key) ? this.#stringsAfter(key[0]) : this.#texts;
    const { size } = set;
    set.add(isPair(key) ? key[1] : keyText(key));
    return set.size > size;
  }

  #stringsAfter(part: string): Set<string> {
    let set = this.#strings.get(part);
    if (set === undefined) {
      set = new Set();
      this.#strings.set(part, set);
    }
    return set;
  }
}

function isPair(key: KvKey): key is readonly [string, string] {
  return key.length === 2 && typeof key[0] === "string" && typeof key[1] === "string";
}
