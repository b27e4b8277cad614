import type { KeyList } from "../../engine/engine.js";
import type { ViewReads } from "../../engine/read/open-views.js";
import { visitMany, visitRange } from "../../engine/read/visit-entries.js";
import { visitRanges } from "../../engine/read/visit-ranges.js";
import { InvalidKeyError, InvalidSelectorError } from "../../errors/core-errors.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { KeyPrefix } from "../../keys/key-prefix.js";
import { type KvListSelector, keyAfter, keyRange } from "../../keys/key-range.js";
import { skipPart } from "../../keys/skip-part.js";
import { versionstampBytes } from "../../values/versionstamp.js";
import type { KvEachOptions, KvListedEntry, KvPageOptions, KvPages } from "../kv-pages.js";
import { assertWithin, type KvLimits } from "../limits.js";
import { KeyMemory } from "./key-memory.js";
import { ListedEntry } from "./listed-entry.js";
import { sharedPrefix } from "./shared-prefix.js";
import { decodeStoredValue, undecodableKey } from "./stored-entry.js";

export interface PageReadsContext {
  readonly order: KeyOrder;
  readonly limits: KvLimits;
  readonly listsAtOnce: boolean;
  /** @throws {DatabaseClosedError} after the database was closed. */
  stored(operation: string): ViewReads;
}

/**
 * Reads pages of entries. Values are decoded where the engine has them, and keys are copied to
 * memory that they share, so the number of objects of a page is that of its entries.
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
    const entries: ListedEntry[] = [];
    const visited = visitRange(this.#context.stored("list"), { range, limit, reverse }, (entry) => {
      const value = withValues ? decodeStoredValue(entry, properties) : undefined;
      entries.push(ListedEntry.copyOf(prefix, entry, value));
    });
    return visited instanceof Promise ? visited.then(() => entries) : entries;
  }

  listEach(
    prefixes: readonly KeyPrefix[],
    { limit, most, after, withValues, properties }: KvEachOptions,
  ): KvListedEntry[][] | Promise<KvListedEntry[][]> {
    const { order } = this.#context;
    const ranges = prefixes.map(({ range }) => range);
    if (after !== undefined && ranges.length > 0)
      ranges[0] = { start: keyAfter(encodeKey(after, order)), end: ranges[0]!.end };
    const unknown = new KeyPrefix([], order);
    const lists: ListedEntry[][] = prefixes.map(() => []);
    let left = most;
    let last = 0;
    const read = { ranges, limit, most };
    const visited = visitRanges(this.#context.stored("list"), read, (position, entry) => {
      const value = withValues ? decodeStoredValue(entry, properties) : undefined;
      const prefix = prefixes[position]!;
      const known = prefix.isShared ? prefix : unknown;
      lists[position]!.push(ListedEntry.copyOf(known, entry, value));
      left--;
      last = position;
    });
    const result = () => (left > 0 ? lists : lists.slice(0, last + 1));
    return visited instanceof Promise ? visited.then(result) : result();
  }

  countEach(prefixes: readonly KeyPrefix[], keyLength: number): number[] | Promise<number[]> {
    const { order } = this.#context;
    const counts = prefixes.map(() => 0);
    const ranges = prefixes.map(({ range }) => range);
    const read = { ranges, limit: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };
    const visited = visitRanges(this.#context.stored("list"), read, (position, { key }) => {
      const { parts, bytes } = prefixes[position]!;
      if (keyLength === parts.length + partsAfter(key, bytes.length, order)) counts[position]!++;
    });
    return visited instanceof Promise ? visited.then(() => counts) : counts;
  }

  getLinked(
    entries: readonly KvListedEntry[],
    prefix: KvKey,
    from: number,
  ): (KvListedEntry | undefined)[] | Promise<(KvListedEntry | undefined)[]> {
    const { order, limits } = this.#context;
    assertWithin(limits, "keys", entries.length);
    if (prefix.length === 0) throw new InvalidKeyError("it has no parts");
    const first = new KeyPrefix(prefix, order);
    const keys = this.#keysOf(entries, first, from);
    const linked = new Array<KvListedEntry | undefined>(entries.length).fill(undefined);
    const visited = visitMany(this.#context.stored("getMany"), keys, (position, entry) => {
      const [start, end] = [keys.starts[position]!, keys.ends[position]!];
      const value = decodeStoredValue(entry);
      linked[position] = new ListedEntry(first, keys.bytes, start, end, entry, value);
    });
    return visited instanceof Promise ? visited.then(() => linked) : linked;
  }

  /** Returns the keys to which entries lead: the first parts, and then the last of the entry. */
  #keysOf(entries: readonly KvListedEntry[], { bytes: first }: KeyPrefix, from: number): KeyList {
    const { order, limits } = this.#context;
    const tails = entries.map((entry) => tailOf(entry, from, order));
    let size = 0;
    for (const { start, end } of tails) {
      const keyBytes = first.length + end - start;
      if (keyBytes > limits.keyBytes) assertWithin(limits, "keyBytes", keyBytes);
      size += keyBytes + versionstampBytes;
    }
    const memory = KeyMemory.with(size);
    const { bytes } = memory;
    let next = memory.take(size);
    const starts: number[] = [];
    const ends: number[] = [];
    for (const { bytes: source, start, end } of tails) {
      starts.push(next);
      for (let i = 0; i < first.length; i++) bytes[next++] = first[i]!;
      for (let i = start; i < end; i++) bytes[next++] = source[i]!;
      ends.push(next);
      next += versionstampBytes;
    }
    return { bytes, starts, ends };
  }
}

/** Returns the number of the parts of a key that begin at an offset or after it. */
function partsAfter(key: Uint8Array, offset: number, order: KeyOrder): number {
  let count = 0;
  try {
    for (let next = offset; next < key.length; count++)
      next = skipPart(key, next, key.length, order);
  } catch (cause) {
    throw undecodableKey(key, cause);
  }
  return count;
}

/** A part of some bytes: `bytes[start, end)`. */
interface Tail {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Returns the last parts of a key. Those of an entry that was read alone are encoded. */
function tailOf(entry: KvListedEntry, from: number, order: KeyOrder): Tail {
  if (entry instanceof ListedEntry)
    return { bytes: entry.bytes, start: entry.offsetOf(from), end: entry.end };
  const bytes = encodeKey(entry.key.slice(from), order);
  return { bytes, start: 0, end: bytes.length };
}
