import { compareBytes } from "../../../bytes/compare-bytes.js";
import type { ReadView, StoredEntry } from "../../../engine/engine.js";
import { InvalidKeyError } from "../../../errors/core-errors.js";
import type { KvKey, KvKeyPart } from "../../../keys/key.js";
import { denoOrder } from "../../../keys/key-order.js";
import { type KeyRange, type KvListSelector, keyRange } from "../../../keys/key-range.js";
import type { KvConsistencyLevel, KvEntryMaybe, KvListIterator, KvListOptions } from "../../kv.js";
import type { KvReads, KvReadsContext } from "../../read/kv-reads.js";
import { assertConsistency } from "../deno-argument.js";
import { denoError } from "../deno-error.js";
import { encodeKeyOf, takeKey } from "../deno-key.js";
import { assertReadKeySize, assertWithinDeno } from "../deno-limits.js";
import { entryMaybeOf } from "./deno-entry.js";
import { type DenoListContext, DenoListIterator } from "./deno-list-iterator.js";

/** The range of all entries. The tag of every key part lies between its bounds. */
const allEntries = keyRange({ prefix: [] }, denoOrder);

/** Reads entries as Deno does: with its order, limits, cursors and errors. */
export class DenoReads implements KvReads {
  readonly #context: KvReadsContext;

  constructor(context: KvReadsContext) {
    this.#context = context;
  }

  async get<T = unknown>(
    key: KvKey,
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<KvEntryMaybe<T>> {
    const ownKey = copyOf(key);
    const [encoded] = this.#encodeReadKeys([takeReadKey(key)], options);
    if (encoded === undefined || encoded.length === 0) return entryMaybeOf<T>(ownKey, undefined);
    const read = this.#context.stored("get").get(encoded);
    return entryMaybeOf<T>(ownKey, read instanceof Promise ? await read : read);
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options?: { consistency?: KvConsistencyLevel },
  ): Promise<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    // Called as in Deno: array-like objects are accepted, and null and undefined throw the error of
    // the JavaScript engine.
    const taken = Array.prototype.map.call(keys, takeReadKey) as (KvKeyPart[] | undefined)[];
    const ownKeys = Array.from(keys as readonly KvKey[], copyOf);
    const entries = await readKeys(
      this.#encodeReadKeys(taken, options),
      this.#context.stored("getMany"),
    );
    const results = entries.map((entry, index) => entryMaybeOf(ownKeys[index]!, entry));
    return results as { [K in keyof T]: KvEntryMaybe<T[K]> };
  }

  list<T = unknown>(selector: KvListSelector, options: KvListOptions = {}): KvListIterator<T> {
    const context: DenoListContext = {
      limits: this.#context.limits,
      isView: this.#context.isView,
      assertOpen: () => void this.#context.stored("list"),
      readRange: (...read) => this.#readRange(...read),
    };
    return new DenoListIterator<T>(context, selector, options);
  }

  /** Encodes keys to read, with Deno's checks in Deno's order. */
  #encodeReadKeys(
    keys: readonly (KvKeyPart[] | undefined)[],
    options: { consistency?: KvConsistencyLevel } | undefined,
  ): Uint8Array[] {
    const { limits } = this.#context;
    assertConsistency(options?.consistency ?? "strong");
    this.#context.stored("get");
    assertWithinDeno(limits, "keys", keys.length);
    return keys.map((key) => {
      if (key === undefined)
        throw denoError(new InvalidKeyError("it is not an array"), "Invalid range");
      const encoded = encodeKeyOf(key);
      // Deno reads a range that ends at the key plus a zero byte, and checks the size of that end.
      assertReadKeySize(limits, encoded.length + 1);
      return encoded;
    });
  }

  async #readRange(range: KeyRange, limit: number, reverse: boolean): Promise<StoredEntry[]> {
    // A cursor may be any bytes, so a bound may lie among the system keys before the first entry.
    const start = compareBytes(range.start, allEntries.start) < 0 ? allEntries.start : range.start;
    const end = compareBytes(range.end, allEntries.end) > 0 ? allEntries.end : range.end;
    if (compareBytes(start, end) >= 0) return [];
    return await this.#context.stored("list").getRange({ range: { start, end }, limit, reverse });
  }
}

/** Reads the entries of keys. Deno accepts an empty key in a read, but it has no entry. */
export async function readKeys(
  keys: readonly Uint8Array[],
  stored: Pick<ReadView, "getMany">,
): Promise<(StoredEntry | undefined)[]> {
  const filled = keys.filter((key) => key.length > 0);
  const entries = [...(await stored.getMany(filled))];
  return keys.map((key) => (key.length > 0 ? entries.shift() : undefined));
}

/** Copies a key to read as Deno does. Returns undefined if the key is null or undefined. */
function takeReadKey(key: KvKey): KvKeyPart[] | undefined {
  return key === null || key === undefined ? undefined : takeKey(key);
}

/** Copies a key before the caller can change it. A value that is no array is refused elsewhere. */
export function copyOf(key: KvKey): KvKey {
  return Array.isArray(key) ? [...key] : [];
}
