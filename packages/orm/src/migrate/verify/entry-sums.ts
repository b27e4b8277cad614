import type { KvKey, KvKeyPart } from "@keywright/core";
import { primaryKeyOfPointer } from "../../indexes/primary-key.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** Sums in the table: two numbers of 32 bits each. */
const buckets = 65_536;
/** Bytes of a stored piece of the table: some databases take 64 KiB at the most. */
const pieceBytes = 32_768;

/**
 * Compares the entries that rows should have with those that there are, in two scans and 512 KiB, however many there are:
 * each entry is added to the sums of its bucket by the one scan and taken away by the other. A bucket whose sums are zero
 * then has the same entries on both sides, as sure as two different sets of entries hardly ever have the same 64 bits.
 * Only the keys of the other buckets have to be read one by one.
 */
export class EntrySums {
  readonly #sums: Uint32Array = new Uint32Array(2 * buckets);

  /** Adds the entry that a row should have, with a pointer to it. */
  add(key: KvKey, primaryKey: readonly KvKeyPart[]): void {
    hashKey(key);
    const at = bucketOf();
    hashParts(primaryKey);
    finish();
    this.#sums[at] = this.#sums[at]! + first;
    this.#sums[at + 1] = this.#sums[at + 1]! + second;
  }

  /** Takes an entry away that is there. */
  remove(model: CompiledModel, key: KvKey, pointer: unknown): void {
    const primaryKey = primaryKeyOfPointer(model, pointer);
    hashKey(key);
    const at = bucketOf();
    if (primaryKey !== undefined) hashParts(primaryKey);
    finish();
    this.#sums[at] = this.#sums[at]! - first;
    this.#sums[at + 1] = this.#sums[at + 1]! - second;
  }

  /** Whether the entries on both sides are the same. */
  get areZero(): boolean {
    for (const sum of this.#sums) if (sum !== 0) return false;
    return true;
  }

  /** Whether the key may be one whose entries differ. */
  differsAt(key: KvKey): boolean {
    hashKey(key);
    const at = bucketOf();
    return this.#sums[at] !== 0 || this.#sums[at + 1] !== 0;
  }

  /** The table in pieces to store; undefined for one without any sum but zero. */
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

  /** Takes a stored piece of the table over. */
  setPiece(position: number, piece: Uint8Array): void {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    const from = (position * pieceBytes) / 4;
    for (let i = 0; i < piece.byteLength / 4; i++) this.#sums[from + i] = view.getUint32(4 * i);
  }
}

// The hash under way, in two lanes with multipliers of their own, as in cyrb53. It is kept here rather than in an object of
// its own, for there are millions of them.
let first = 0;
let second = 0;

function hashKey(key: KvKey): void {
  first = 0xdead_beef;
  second = 0x41c6_ce57;
  hashParts(key);
}

/** Of what has been hashed so far. */
function bucketOf(): number {
  const mixed = Math.imul(first ^ (first >>> 16), 0x85eb_ca6b) ^ second;
  return 2 * ((mixed ^ (mixed >>> 16)) & (buckets - 1));
}

function hashParts(parts: readonly KvKeyPart[]): void {
  for (const part of parts) hashPart(part);
}

const bits = new DataView(new ArrayBuffer(8));

/** By its kind, its content and its length, so that no two lists of parts are hashed alike. */
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
