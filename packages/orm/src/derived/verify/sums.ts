import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import { primaryKeyOfPointer } from "../../model/keys/primary-key.js";

/** The number of sums in the table. */
const buckets = 65_536;
/** Bytes of a stored piece of the table. Some databases accept values of at most 64 KiB. */
const pieceBytes = 32_768;

/**
 * Compares what rows should have with what is stored: entries of indexes, and counters. It takes
 * two scans and 512 KiB of memory for any number of entries. The first scan adds a hash of each
 * expected entry to the sum of its bucket, and the second scan subtracts a hash of each stored
 * entry. For a counter, the hash of its key is multiplied by the number. If the sum of a bucket is
 * zero, the bucket has the same on both sides, except with the negligible probability of a
 * collision of 64 bits. Only the keys of the other buckets have to be read one by one.
 */
export class Sums {
  /** Two numbers of 32 bits for each sum of 64 bits. The lower one comes first. */
  readonly #sums: Uint32Array = new Uint32Array(2 * buckets);

  /** Adds an entry that a row should have. */
  add(key: KvKey, primaryKey: readonly KvKeyPart[]): void {
    hashKey(key);
    const at = bucketOf();
    hashParts(primaryKey);
    finish();
    this.#add(at, first, second);
  }

  /** Subtracts a stored entry. */
  remove(model: CompiledModel, key: KvKey, pointer: unknown): void {
    const primaryKey = primaryKeyOfPointer(model, pointer);
    hashKey(key);
    const at = bucketOf();
    if (primaryKey !== undefined) hashParts(primaryKey);
    finish();
    // The two's complement.
    this.#add(at, -first >>> 0, (~second + (first === 0 ? 1 : 0)) >>> 0);
  }

  /** Adds to a counter. Negative to subtract what is stored. */
  addAmount(key: KvKey, by: bigint): void {
    hashKey(key);
    const at = bucketOf();
    finish();
    // A product with an odd number is zero only if the amount is.
    const hash = (BigInt(second) << 32n) | BigInt(first) | 1n;
    const product = BigInt.asUintN(64, hash * by);
    this.#add(at, Number(product & 0xffff_ffffn), Number(product >> 32n));
  }

  get areZero(): boolean {
    for (const sum of this.#sums) if (sum !== 0) return false;
    return true;
  }

  /** True if what is stored under this key may differ. It need not. */
  differsAt(key: KvKey): boolean {
    hashKey(key);
    const at = bucketOf();
    return this.#sums[at] !== 0 || this.#sums[at + 1] !== 0;
  }

  #add(at: number, low: number, high: number): void {
    const sum = this.#sums[at]! + low;
    this.#sums[at] = sum;
    this.#sums[at + 1] = this.#sums[at + 1]! + high + (sum > 0xffff_ffff ? 1 : 0);
  }

  /** Returns the table in pieces. A piece whose sums are all zero is undefined. */
  toPieces(): (Uint8Array | undefined)[] {
    const pieces: (Uint8Array | undefined)[] = [];
    const sumsOfPiece = pieceBytes / 4;
    for (let from = 0; from < this.#sums.length; from += sumsOfPiece) {
      const sums = this.#sums.subarray(from, from + sumsOfPiece);
      if (sums.every((sum) => sum === 0)) {
        pieces.push(undefined);
        continue;
      }
      const view = new DataView(new ArrayBuffer(pieceBytes));
      for (const [i, sum] of sums.entries()) view.setUint32(4 * i, sum);
      pieces.push(new Uint8Array(view.buffer));
    }
    return pieces;
  }

  setPiece(position: number, piece: Uint8Array): void {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    const from = (position * pieceBytes) / 4;
    for (let i = 0; i < piece.byteLength / 4; i++) this.#sums[from + i] = view.getUint32(4 * i);
  }
}

// The current hash, in two lanes with different multipliers, as in cyrb53. It is kept in module
// variables because an object for each of millions of hashes would be slow.
let first = 0;
let second = 0;

function hashKey(key: KvKey): void {
  first = 0xdead_beef;
  second = 0x41c6_ce57;
  hashParts(key);
}

/** Returns the index of the bucket's first sum, from what has been hashed so far. */
function bucketOf(): number {
  const mixed = Math.imul(first ^ (first >>> 16), 0x85eb_ca6b) ^ second;
  return 2 * ((mixed ^ (mixed >>> 16)) & (buckets - 1));
}

function hashParts(parts: readonly KvKeyPart[]): void {
  for (const part of parts) hashPart(part);
}

const bits = new DataView(new ArrayBuffer(8));

/**
 * Hashes the type, the content and the length of a part, so that different lists of parts give
 * different input to the hash.
 */
function hashPart(part: KvKeyPart): void {
  switch (typeof part) {
    case "string":
      hashText(part);
      mix(1);
      mix(part.length);
      return;
    case "number":
      bits.setFloat64(0, part);
      mix(Number.isNaN(part) ? 1 : bits.getUint32(0));
      mix(Number.isNaN(part) ? 1 : bits.getUint32(4));
      mix(2);
      return;
    case "bigint": {
      const text = part.toString(36);
      hashText(text);
      mix(3);
      mix(text.length);
      return;
    }
    case "boolean":
      mix(part ? 5 : 4);
      return;
    default:
      for (const byte of part) mix(byte);
      mix(6);
      mix(part.length);
  }
}

function hashText(text: string): void {
  for (let i = 0; i < text.length; i++) mix(text.charCodeAt(i));
}

function mix(value: number): void {
  first = Math.imul(first ^ value, 0x9e37_79b1);
  second = Math.imul(second ^ value, 0x5f35_6495);
  first ^= first >>> 15;
  second ^= second >>> 13;
}

function finish(): void {
  const before = first;
  first = Math.imul(first ^ (first >>> 16), 0x85eb_ca6b) ^ Math.imul(second, 0xc2b2_ae35);
  second = Math.imul(second ^ (second >>> 16), 0x85eb_ca6b) ^ Math.imul(before, 0xc2b2_ae35);
  first = (first ^ (first >>> 15)) >>> 0;
  second = (second ^ (second >>> 16)) >>> 0;
}
