import { Buffer } from "node:buffer";
import type { AtomicWrite, StoredMutation } from "@keywright/core";
import { appendVersionstampPart, visibleRange } from "@keywright/core/engine";

/**
 * About how many bytes a comparison or an operation adds to a request, in addition to key and
 * value.
 */
const overhead = 64;

/** A range of keys, as texts: from `start` up to `end`, without `end`. */
export interface TextRange {
  readonly start: string;
  readonly end: string;
}

/** A write that has no outcome yet. */
export class PendingWrite {
  readonly write: AtomicWrite;
  /** The position among the writes of one call. */
  readonly index: number;
  /** The texts of the keys of its checks. */
  readonly read: readonly string[];
  /** The texts of the keys that it changes. */
  readonly written: readonly string[];
  /** The ranges of its range checks. */
  readonly readRanges: readonly TextRange[];
  /** About how many bytes it adds to a request. */
  readonly bytes: number;
  /** True if a key of the write ends in its versionstamp. */
  readonly endsInVersionstamp: boolean;
  /** True if the stored entries have to be read before the request is made. */
  needsState: boolean;
  /** True if its range checks have to be read while a revision is reserved. */
  needsReservation = false;

  constructor(write: AtomicWrite, index: number) {
    const { checks, rangeChecks = [], mutations } = write;
    this.write = write;
    this.index = index;
    this.read = checks.map(({ key }) => textOf(key));
    this.written = mutations.flatMap(changedKeys).map(textOf);
    this.readRanges = rangeChecks.map(({ range }) => {
      const { start, end } = visibleRange(range);
      return { start: textOf(start), end: textOf(end) };
    });
    this.bytes = bytesOf(write);
    this.endsInVersionstamp = mutations.some(isWithVersionstamp);
    this.needsState = mutations.some(dependsOnStored);
  }

  /** For each key that it changes, a range that contains it. */
  get writtenRanges(): readonly TextRange[] {
    return this.write.mutations.flatMap((mutation) =>
      isWithVersionstamp(mutation)
        ? [rangeOfChange(mutation.key, true)]
        : changedKeys(mutation).map((key) => rangeOfChange(key, false)),
    );
  }
}

/** True if the effect of a mutation depends on the stored entry. */
export function dependsOnStored({ type }: StoredMutation): boolean {
  return type !== "set" && type !== "delete";
}

/** Returns the bytes of a key as a text, for maps. */
export function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
}

function changedKeys(mutation: StoredMutation): Uint8Array[] {
  // No other write can know a key that ends in the versionstamp of this one.
  if (isWithVersionstamp(mutation)) return [];
  const { type, key } = mutation;
  return type === "deleteExpired" && mutation.hint ? [key, mutation.hint.key] : [key];
}

/** Returns the range in which a changed key is. */
export function rangeOfChange(key: Uint8Array, endsInVersionstamp: boolean): TextRange {
  const bound = (digit: string) =>
    textOf(endsInVersionstamp ? appendVersionstampPart(key, digit.repeat(20)) : key);
  return { start: bound("0"), end: `${bound("f")}\0` };
}

export function overlap(a: TextRange, b: TextRange): boolean {
  return a.start < b.end && b.start < a.end;
}

function isWithVersionstamp(mutation: StoredMutation): boolean {
  return mutation.type === "set" && mutation.endsInVersionstamp === true;
}

function bytesOf({ checks, rangeChecks = [], mutations }: AtomicWrite): number {
  let bytes = rangeChecks.length > 0 ? 4 * overhead : 0;
  for (const { key } of checks) bytes += 3 * (key.length + overhead);
  for (const mutation of mutations) {
    bytes += mutation.key.length + overhead + (mutation.type === "set" ? mutation.value.length : 0);
  }
  return bytes;
}
