import type { VisitedEntry } from "../../engine/engine.js";
import { decodeKeyAfter } from "../../keys/decode-key.js";
import type { KvKeyPart } from "../../keys/key.js";
import type { KeyPrefix } from "../../keys/key-prefix.js";
import { skipPart } from "../../keys/skip-part.js";
import { readVersionstamp, versionstampBytes } from "../../values/versionstamp.js";
import type { KvListedEntry } from "../kv.js";
import { decodeStoredKey, undecodableKey } from "./stored-entry.js";

/**
 * The keys and versionstamps of the entries of a page, in one piece of memory that belongs to the
 * page. They are decoded when they are asked for.
 */
export class PageKeys {
  /** The first parts of all keys of the page. */
  readonly prefix: KeyPrefix;
  bytes: Uint8Array;
  #used = 0;

  /** @param size how many bytes to begin with. More are allocated if they are needed. */
  constructor(prefix: KeyPrefix, size: number) {
    this.prefix = prefix;
    this.bytes = new Uint8Array(size);
  }

  /** Returns the offset of new memory for a key of `size` bytes, and for its versionstamp. */
  reserve(size: number): number {
    const start = this.#used;
    this.#used += size + versionstampBytes;
    if (this.#used > this.bytes.length) {
      const longer = new Uint8Array(Math.max(this.#used, this.bytes.length * 2));
      longer.set(this.bytes);
      this.bytes = longer;
    }
    return start;
  }
}

/** An entry of a page. Its key and its versionstamp are decoded when they are first read. */
export class ListedEntry implements KvListedEntry {
  readonly value: unknown;
  readonly expireAt: number | undefined;
  /** The memory of the key: `keys.bytes[start, end)`. */
  readonly keys: PageKeys;
  readonly start: number;
  readonly end: number;
  /** The first parts of the key, as far as they are known. */
  #prefix: KeyPrefix;
  #key: KvKeyPart[] | undefined;
  /** Undefined if its bytes are after the key. */
  readonly #versionstamp: string | undefined;

  /** @param entry is not kept. If it can, it writes its versionstamp after the key. */
  constructor(keys: PageKeys, start: number, end: number, entry: VisitedEntry, value: unknown) {
    this.keys = keys;
    this.#prefix = keys.prefix;
    this.start = start;
    this.end = end;
    this.value = value;
    this.expireAt = entry.expireAt;
    if (entry.writeVersionstamp === undefined) this.#versionstamp = entry.versionstamp;
    else entry.writeVersionstamp(keys.bytes, end);
  }

  get key(): KvKeyPart[] {
    this.#key ??= this.#decodeKey();
    return this.#key;
  }

  get versionstamp(): string {
    return this.#versionstamp ?? readVersionstamp(this.keys.bytes, this.end);
  }

  get keyLength(): number {
    const prefix = this.#prefix;
    let length = prefix.parts.length;
    for (let next = this.start + prefix.bytes.length; next < this.end; length++)
      next = this.#endOf(next);
    return length;
  }

  partAt(position: number): KvKeyPart | undefined {
    const { parts } = this.#prefix;
    return position < parts.length ? parts[position] : this.key[position];
  }

  compareStart(prefix: KeyPrefix): number {
    const difference = prefix.compare(this.keys.bytes, this.start, this.end);
    // These parts need not be decoded any more.
    if (difference === 0 && prefix.isShared) this.#prefix = prefix;
    return difference;
  }

  /** Returns the offset in the memory of the key where a part begins. */
  offsetOf(position: number): number {
    const prefix = this.#prefix;
    const isAfterPrefix = position >= prefix.parts.length;
    let next = isAfterPrefix ? this.start + prefix.bytes.length : this.start;
    for (let i = isAfterPrefix ? prefix.parts.length : 0; i < position; i++)
      next = this.#endOf(next);
    return next;
  }

  /** Returns the offset after the part that begins at an offset. */
  #endOf(offset: number): number {
    const { bytes, prefix } = this.keys;
    try {
      return skipPart(bytes, offset, this.end, prefix.order);
    } catch (cause) {
      throw undecodableKey(bytes.subarray(this.start, this.end), cause);
    }
  }

  #decodeKey(): KvKeyPart[] {
    const { parts, bytes, order } = this.#prefix;
    const key = this.keys.bytes.subarray(this.start, this.end);
    return decodeStoredKey(key, () => decodeKeyAfter(parts, bytes.length, key, order));
  }
}
