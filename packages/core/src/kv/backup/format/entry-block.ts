import { Buffer } from "node:buffer";
import type { StoredEntry } from "../../../engine/engine.js";
import { CorruptionError } from "../../../errors/core-errors.js";
import {
  readVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../../../values/versionstamp.js";

const expiryBytes = 8;
const lengthBytes = 4;
/** The bytes of an entry without its key and value. */
const leastBytes = 2 * lengthBytes + versionstampBytes;
/** In the length of a key: the entry expires. */
const expires = 0x8000_0000;

/** Entries as bytes, one after another, without their values being decoded. */
export class EntryBlock {
  #bytes: Buffer;
  #length = 0;
  entries = 0;

  /** @param capacity bytes that are reserved. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Adds an entry: the length of its key (4 bytes, big-endian, with the highest bit if it expires),
   * the length of its value (4 bytes), the versionstamp (10 bytes), the expiry time in milliseconds
   * since the epoch (8 bytes, if it expires), the key and the value.
   */
  add({ key, value, versionstamp, expireAt }: StoredEntry): void {
    const most = leastBytes + expiryBytes + key.length + value.length;
    this.#reserve(most);
    const bytes = this.#bytes;
    let offset = this.#length;
    offset = bytes.writeUInt32BE(key.length + (expireAt === undefined ? 0 : expires), offset);
    offset = bytes.writeUInt32BE(value.length, offset);
    writeVersionstamp(versionstamp, bytes, offset);
    offset += versionstampBytes;
    if (expireAt !== undefined) offset = bytes.writeBigUInt64BE(BigInt(expireAt), offset);
    bytes.set(key, offset);
    offset += key.length;
    bytes.set(value, offset);
    this.#length = offset + value.length;
    this.entries++;
  }

  /** Returns the bytes of the entries. They are valid until the block is cleared. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.entries = 0;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Encodes one entry as {@link EntryBlock.add} does. */
export function encodeEntry(entry: StoredEntry): Buffer {
  const block = new EntryBlock(leastBytes + expiryBytes + entry.key.length + entry.value.length);
  block.add(entry);
  return block.bytes;
}

/**
 * Yields the entries of a block. Their keys and values are views of its bytes.
 *
 * @throws {CorruptionError} if the bytes end within an entry.
 */
export function* entriesOfBlock(block: Buffer): Generator<StoredEntry> {
  for (let offset = 0; offset < block.length; ) {
    if (offset + leastBytes > block.length) throw cutOff();
    const head = block.readUInt32BE(offset);
    const hasExpiry = head >= expires;
    const keyLength = hasExpiry ? head - expires : head;
    const valueLength = block.readUInt32BE(offset + lengthBytes);
    const versionstamp = readVersionstamp(block, offset + 2 * lengthBytes);
    offset += leastBytes;
    const end = offset + (hasExpiry ? expiryBytes : 0) + keyLength + valueLength;
    if (end > block.length) throw cutOff();
    const expireAt = hasExpiry ? Number(block.readBigUInt64BE(offset)) : undefined;
    const key = bytesAt(block, end - valueLength - keyLength, keyLength);
    yield { key, value: bytesAt(block, end - valueLength, valueLength), versionstamp, expireAt };
    offset = end;
  }
}

function bytesAt({ buffer, byteOffset }: Buffer, offset: number, length: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + offset, length);
}

function cutOff(): CorruptionError {
  return new CorruptionError("the entries of a backup end too early");
}
