import { Buffer } from "node:buffer";
import { ClassicLevel } from "classic-level";
import { compareBytes } from "../../../bytes/compare-bytes.js";
import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import type { StoredEntry } from "../../engine.js";
import { firstSystemKey } from "../../system-keys.js";
import { decodeRecord } from "../record.js";
import { lastKey } from "../reserved-keys.js";
import type { StoredWrite } from "./stored-write.js";

/** The first byte of the keys under which the newest write of each key is kept. */
const writePrefix = Uint8Array.of(0x01);
/** The first byte of the keys that list these writes in the order of their commits. */
const orderPrefix = Uint8Array.of(0x02);
const end = Uint8Array.of(0x03);
const placeOffset = orderPrefix.length + 20;
const writeHeaderBytes = 9;
const maxBatchBytes = 4 * 1024 * 1024;

/**
 * The newest write of each key, among writes that are added in any order. They are in a LevelDB
 * database of their own, because they may not fit into memory.
 */
export class NewestWrites {
  readonly #level: ClassicLevel<Uint8Array, Uint8Array>;

  /** @param folder a folder that does not exist. */
  constructor(folder: string) {
    this.#level = new ClassicLevel(folder, { keyEncoding: "view", valueEncoding: "view" });
  }

  async add(writes: readonly StoredWrite[]): Promise<void> {
    let newest = new Map<string, StoredWrite>();
    let bytes = 0;
    for (const write of writes) {
      const text = textOfBytes(write.key);
      const other = newest.get(text) ?? this.get(write.key);
      if (other !== undefined && other.sequence >= write.sequence) continue;
      newest.set(text, write);
      bytes += write.key.length + (write.value?.length ?? 0);
      if (bytes < maxBatchBytes) continue;
      await this.#put(newest);
      newest = new Map();
      bytes = 0;
    }
    await this.#put(newest);
  }

  get(key: Uint8Array): StoredWrite | undefined {
    const stored = this.#level.getSync(concat(writePrefix, key));
    return stored === undefined ? undefined : decodeWrite(key, stored);
  }

  /** Yields the keys of all entries that are not deleted, in their order. */
  async *keys(): AsyncGenerator<Uint8Array> {
    for await (const { key } of this.#entries()) yield key;
  }

  /**
   * Yields all entries that are not deleted, in the order of the commits that wrote them. Entries
   * of the engine itself are left out.
   */
  async *inCommitOrder(): AsyncGenerator<StoredEntry> {
    let batch = this.#level.batch();
    for await (const { key, versionstamp } of this.#entries()) {
      batch.put(concat(orderPrefix, Buffer.from(versionstamp, "latin1"), key), new Uint8Array(0));
      if (batch.length < 10_000) continue;
      await batch.write();
      batch = this.#level.batch();
    }
    await batch.write();
    for await (const place of this.#level.keys({ gte: orderPrefix, lt: end })) {
      const key = place.subarray(placeOffset);
      yield decodeRecord(key, this.get(key)!.value!);
    }
  }

  async open(): Promise<void> {
    await this.#level.open();
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  async *#entries(): AsyncGenerator<StoredEntry> {
    for await (const [place, stored] of this.#level.iterator({
      gte: writePrefix,
      lt: orderPrefix,
    })) {
      const key = place.subarray(writePrefix.length);
      const { value } = decodeWrite(key, stored);
      if (value !== undefined && isOfEntry(key)) yield decodeRecord(key, value);
    }
  }

  async #put(writes: ReadonlyMap<string, StoredWrite>): Promise<void> {
    const batch = this.#level.batch();
    for (const write of writes.values())
      batch.put(concat(writePrefix, write.key), encodeWrite(write));
    await batch.write();
  }
}

function isOfEntry(key: Uint8Array): boolean {
  return compareBytes(key, firstSystemKey) >= 0 && compareBytes(key, lastKey) < 0;
}

/** Encodes a write without its key: its sequence number, a byte that is 1 for a put, its value. */
function encodeWrite({ sequence, value }: StoredWrite): Uint8Array {
  const bytes = Buffer.alloc(writeHeaderBytes + (value?.length ?? 0));
  bytes.writeBigUInt64BE(BigInt(sequence));
  if (value === undefined) return bytes;
  bytes[writeHeaderBytes - 1] = 1;
  bytes.set(value, writeHeaderBytes);
  return bytes;
}

function decodeWrite(key: Uint8Array, bytes: Uint8Array): StoredWrite {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sequence = Number(view.getBigUint64(0));
  const isPut = bytes[writeHeaderBytes - 1] === 1;
  return { key, sequence, value: isPut ? bytes.subarray(writeHeaderBytes) : undefined };
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
