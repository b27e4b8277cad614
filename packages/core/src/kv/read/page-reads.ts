import type { KeyList } from "../../engine/engine.js";
import type { ViewReads } from "../../engine/open-views.js";
import { visitMany, visitRange } from "../../engine/visit-entries.js";
import { InvalidKeyError, InvalidSelectorError } from "../../errors/core-errors.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { KeyPrefix } from "../../keys/key-prefix.js";
import { type KvListSelector, keyRange } from "../../keys/key-range.js";
import type { KvListedEntry, KvPageOptions, KvPages } from "../kv.js";
import { assertWithin, type KvLimits } from "../limits.js";
import { ListedEntry, PageKeys } from "./listed-entry.js";
import { sharedPrefix } from "./shared-prefix.js";
import { decodeStoredValue } from "./stored-entry.js";

export interface PageReadsContext {
  readonly order: KeyOrder;
  readonly limits: KvLimits;
  readonly listsAtOnce: boolean;
  /** @throws {DatabaseClosedError} after the database was closed. */
  stored(operation: string): ViewReads;
}

/** Memory is allocated for so many keys of this size at first. */
const firstKeys = 128;
const usualKeyBytes = 64;

/**
 * Reads pages of entries. Values are decoded where the engine has them, and keys are copied to the
 * memory of the page, so the number of objects of a page is that of its entries.
 */
export class PageReads implements KvPages {
  readonly #context: PageReadsContext;

  constructor(context: PageReadsContext) {
    this.#context = context;
  }

  get listsAtOnce(): boolean {
    return this.#context.listsAtOnce;
  }

  list(
    selector: KvListSelector,
    { limit, reverse, withValues, properties }: KvPageOptions,
  ): KvListedEntry[] | Promise<KvListedEntry[]> {
    if (!Number.isInteger(limit) || limit < 1)
      throw new InvalidSelectorError("limit must be a positive integer");
    const { order } = this.#context;
    const range = keyRange(selector, order);
    const prefix = new KeyPrefix(sharedPrefix(selector), order);
    const keys = new PageKeys(prefix, Math.min(limit, firstKeys) * usualKeyBytes);
    const entries: ListedEntry[] = [];
    const visited = visitRange(this.#context.stored("list"), { range, limit, reverse }, (entry) => {
      const { key } = entry;
      const start = keys.reserve(key.length);
      keys.bytes.set(key, start);
      const value = withValues ? decodeStoredValue(entry, properties) : undefined;
      entries.push(new ListedEntry(keys, start, start + key.length, entry, value));
    });
    return visited instanceof Promise ? visited.then(() => entries) : entries;
  }

  getLinked(
    entries: readonly KvListedEntry[],
    prefix: KvKey,
    from: number,
  ): (KvListedEntry | undefined)[] | Promise<(KvListedEntry | undefined)[]> {
    const { order, limits } = this.#context;
    assertWithin(limits, "keys", entries.length);
    if (prefix.length === 0) throw new InvalidKeyError("it has no parts");
    const keys = new PageKeys(new KeyPrefix(prefix, order), entries.length * usualKeyBytes);
    const places = this.#placesOf(entries, keys, from);
    const linked = new Array<KvListedEntry | undefined>(entries.length).fill(undefined);
    const list: KeyList = { bytes: keys.bytes, ...places };
    const visited = visitMany(this.#context.stored("getMany"), list, (position, entry) => {
      const [start, end] = [list.starts[position]!, list.ends[position]!];
      linked[position] = new ListedEntry(keys, start, end, entry, decodeStoredValue(entry));
    });
    return visited instanceof Promise ? visited.then(() => linked) : linked;
  }

  /** Writes the keys to which entries lead: the first parts, and then the last ones of the entry. */
  #placesOf(
    entries: readonly KvListedEntry[],
    keys: PageKeys,
    from: number,
  ): Pick<KeyList, "starts" | "ends"> {
    const { order, limits } = this.#context;
    const first = keys.prefix.bytes;
    const starts: number[] = [];
    const ends: number[] = [];
    for (const entry of entries) {
      const { bytes: source, start: tail, end: tailEnd } = tailOf(entry, from, order);
      const size = first.length + tailEnd - tail;
      if (size > limits.keyBytes) assertWithin(limits, "keyBytes", size);
      const start = keys.reserve(size);
      const { bytes } = keys;
      let next = start;
      for (let i = 0; i < first.length; i++) bytes[next++] = first[i]!;
      for (let i = tail; i < tailEnd; i++) bytes[next++] = source[i]!;
      starts.push(start);
      ends.push(next);
    }
    return { starts, ends };
  }
}

/** Returns where the last parts of a key are. Those of an entry that was read alone are encoded. */
function tailOf(
  entry: KvListedEntry,
  from: number,
  order: KeyOrder,
): { readonly bytes: Uint8Array; readonly start: number; readonly end: number } {
  if (entry instanceof ListedEntry)
    return { bytes: entry.keys.bytes, start: entry.offsetOf(from), end: entry.end };
  const bytes = encodeKey(entry.key.slice(from), order);
  return { bytes, start: 0, end: bytes.length };
}
