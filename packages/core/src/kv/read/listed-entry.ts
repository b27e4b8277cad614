import type { VisitedEntry } from "../../engine/engine.js";
import { decodeKeyAfter } from "../../keys/decode-key.js";
import type { KvKeyPart } from "../../keys/key.js";
import type { KeyPrefix } from "../../keys/key-prefix.js";
import { skipPart } from "../../keys/skip-part.js";
import { readVersionstamp, versionstampBytes } from "../../values/versionstamp.js";
import type { KvListedEntry } from "../kv-pages.js";
import { KeyMemory } from "./key-memory.js";
import { decodeStoredKey, undecodableKey } from "./stored-entry.js";

/** An entry of a page. Its key and its versionstamp are decoded when they are first read. */
export class ListedEntry implements KvListedEntry {
  readonly value: unknown;
  readonly expireAt: number | undefined;
  /** The memory of the key: `bytes[start, end)`. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The first parts of the key, as far as they are known. */
  #prefix: KeyPrefix;
  #key: KvKeyPart[] | undefined;
  /** Undefined if its bytes are after the key. */
  readonly #versionstamp: string | undefined;

  /**
   * @param prefix first parts of the key.
   * @param bytes has the key at `start`, and unused memory for a versionstamp after it.
   * @param entry is not kept. If it can, it writes its versionstamp after the key.
   */
  constructor(
    prefix: KeyPrefix,
    bytes: Uint8Array,
    start: number,
    end: number,
    entry: VisitedEntry,
    value: unknown,
  ) {
    this.#prefix = prefix;
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.value = value;
    this.expireAt = entry.expireAt;
    if (entry.writeVersionstamp === undefined) this.#versionstamp = entry.versionstamp;
    else entry.writeVersionstamp(bytes, end);
  }

  /** Returns an entry with a copy of the key that an engine shows. */
  static copyOf(prefix: KeyPrefix, entry: VisitedEntry, value: unknown): ListedEntry {
    const { memory } = entry;
    if (memory === undefined) {
      const { key } = entry;
      const { bytes, start } = placeFor(key.length);
      bytes.set(key, start);
      return new ListedEntry(prefix, bytes, start, start + key.length, entry, value);
    }
    const { keyBytes, keyStart, keyEnd } = memory;
    const { bytes, start } = placeFor(keyEnd - keyStart);
    let end = start;
    for (let i = keyStart; i < keyEnd; i++) bytes[end++] = keyBytes[i]!;
    return new ListedEntry(prefix, bytes, start, end, entry, value);
  }

  get key(): KvKeyPart[] {
    this.#key ??= this.#decodeKey();
    return this.#key;
  }

  get versionstamp(): string {
    return this.#versionstamp ?? readVersionstamp(this.bytes, this.end);
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
    const difference = prefix.compare(this.bytes, this.start, this.end);
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
    try {
      return skipPart(this.bytes, offset, this.end, this.#prefix.order);
    } catch (cause) {
      throw undecodableKey(this.bytes.subarray(this.start, this.end), cause);
    }
  }

  #decodeKey(): KvKeyPart[] {
    const { parts, bytes, order } = this.#prefix;
    const key = this.bytes.subarray(this.start, this.end);
    return decodeStoredKey(key, () => decodeKeyAfter(parts, bytes.length, key, order));
  }
}

/** Returns memory for a key and the versionstamp after it. */
function placeFor(keyBytes: number): { readonly bytes: Uint8Array; readonly start: number } {
  const size = keyBytes + versionstampBytes;
  const memory = KeyMemory.with(size);
  return { bytes: memory.bytes, start: memory.take(size) };
}
