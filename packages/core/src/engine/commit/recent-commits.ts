import { compareBytes } from "../../bytes/compare-bytes.js";
import { InvalidVersionstampError } from "../../errors/core-errors.js";
import type { KeyRange } from "../../keys/key-range.js";
import type { RangeCheck } from "../engine.js";

/** The size of a block of keys in bytes, unless one commit alone has changed more. */
const blockBytes = 128 * 1024;
/** How many full blocks are kept, unless they are larger: 8 MiB of keys. */
const mostBytes = 64 * blockBytes;

/** Sorting the keys of a larger block would take longer than searching all of them. */
const mostSorted = 20_000;

/**
 * The keys that the latest commits have changed. It answers range checks without reading the
 * database, in time proportional to the number of commits since the versionstamp of the check. A
 * check fails if its versionstamp is older than the oldest commit that is kept. The idea is that of
 * FoundationDB's resolvers.
 */
export class RecentCommits {
  /** The newest is the last. Only to that one are commits added. */
  readonly #blocks: Block[] = [];
  #bytes = 0;
  /** All commits after this versionstamp are kept. */
  #since: string;
  #last: string;

  /** @param last the versionstamp of the last commit, of whose keys nothing is known. */
  constructor(last: string) {
    this.#since = last;
    this.#last = last;
  }

  /** Adds the next commit. Copies the keys. */
  add(versionstamp: string, keys: readonly Uint8Array[]): void {
    this.#last = versionstamp;
    // A block has room for any number of commits without keys, such as those of queues.
    if (keys.length === 0) return;
    let length = 0;
    for (const key of keys) length += key.length;
    let block = this.#blocks.at(-1);
    if (block === undefined || !block.hasRoom(length)) block = this.#addBlock(length);
    block.add(versionstamp, keys);
  }

  /**
   * True if no commit after the versionstamp has changed a key of the range.
   *
   * @throws {InvalidVersionstampError} if the versionstamp is later than that of the last commit.
   */
  holds({ range, versionstamp }: RangeCheck): boolean {
    if (versionstamp > this.#last)
      throw new InvalidVersionstampError(versionstamp, "no commit has it yet");
    if (versionstamp < this.#since) return false;
    for (let i = this.#blocks.length - 1; i >= 0; i--) {
      const block = this.#blocks[i]!;
      if (block.last <= versionstamp) return true;
      if (block.hasChanged(range, versionstamp)) return false;
    }
    return true;
  }

  #addBlock(length: number): Block {
    this.#blocks.at(-1)?.end();
    const block = new Block(Math.max(blockBytes, length));
    this.#blocks.push(block);
    this.#bytes += block.size;
    // The last two blocks are kept, even if they are larger than the limit.
    while (this.#blocks.length > 2 && this.#bytes > mostBytes + blockBytes) {
      const oldest = this.#blocks.shift()!;
      this.#bytes -= oldest.size;
      this.#since = oldest.last;
    }
    return block;
  }
}

/** The keys of consecutive commits, one after another in one buffer. */
class Block {
  readonly #bytes: Uint8Array;
  #length = 0;
  /** The position after each key. */
  readonly #ends: number[] = [];
  readonly #versionstamps: string[] = [];
  /** The number of keys of the commits before each commit. */
  readonly #firsts: number[] = [];
  #isFull = false;
  /** The numbers of the keys in key order, after the block was searched when it was full. */
  #order: Uint32Array | undefined;

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(bytes);
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** The versionstamp of the last commit. */
  get last(): string {
    return this.#versionstamps.at(-1)!;
  }

  hasRoom(length: number): boolean {
    return this.#length + length <= this.#bytes.length && this.#ends.length < this.#bytes.length;
  }

  add(versionstamp: string, keys: readonly Uint8Array[]): void {
    this.#versionstamps.push(versionstamp);
    this.#firsts.push(this.#ends.length);
    for (const key of keys) {
      this.#bytes.set(key, this.#length);
      this.#length += key.length;
      this.#ends.push(this.#length);
    }
  }

  /** Called when no commit is added any more. */
  end(): void {
    this.#isFull = true;
  }

  /** True if a commit after the versionstamp has changed a key of the range. */
  hasChanged(range: KeyRange, versionstamp: string): boolean {
    const isSearchable = this.#isFull && this.#ends.length <= mostSorted;
    if (isSearchable && this.#versionstamps[0]! > versionstamp) return this.#hasKeyIn(range);
    let end = this.#ends.length;
    for (let i = this.#versionstamps.length - 1; i >= 0; i--) {
      if (this.#versionstamps[i]! <= versionstamp) return false;
      const first = this.#firsts[i]!;
      for (let key = first; key < end; key++) {
        if (this.#compare(key, range.start) >= 0 && this.#compare(key, range.end) < 0) return true;
      }
      end = first;
    }
    return false;
  }

  /** Finds the first key that is not before the range, by a binary search. */
  #hasKeyIn({ start, end }: KeyRange): boolean {
    this.#order ??= Uint32Array.from(this.#ends.keys()).sort((a, b) =>
      compareBytes(this.#key(a), this.#key(b)),
    );
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#order[middle]!, start) < 0) low = middle + 1;
      else high = middle;
    }
    return low < this.#order.length && this.#compare(this.#order[low]!, end) < 0;
  }

  /** Compares a key with a bound, as `compareBytes` does, without an object for the key. */
  #compare(key: number, bound: Uint8Array): number {
    const first = key === 0 ? 0 : this.#ends[key - 1]!;
    const length = this.#ends[key]! - first;
    const shared = Math.min(length, bound.length);
    for (let i = 0; i < shared; i++) {
      const difference = this.#bytes[first + i]! - bound[i]!;
      if (difference !== 0) return difference;
    }
    return length - bound.length;
  }

  #key(key: number): Uint8Array {
    return this.#bytes.subarray(key === 0 ? 0 : this.#ends[key - 1], this.#ends[key]);
  }
}
