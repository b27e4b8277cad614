import { Buffer } from "node:buffer";
import type { AtomicWrite, StoredMutation } from "@keywright/core";

/**
 * About how many bytes a comparison or an operation adds to a request, in addition to key and
 * value.
 */
const overhead = 64;

/** A write that has no outcome yet. */
export class PendingWrite {
  readonly write: AtomicWrite;
  /** The position among the writes of one call. */
  readonly index: number;
  /** The texts of the keys of its checks. */
  readonly read: readonly string[];
  /** The texts of the keys that it changes. */
  readonly written: readonly string[];
  /** About how many bytes it adds to a request. */
  readonly bytes: number;
  /** True if a key of the write ends in its versionstamp. */
  readonly endsInVersionstamp: boolean;
  /** True if the stored entries have to be read before the request is made. */
  needsState: boolean;

  constructor(write: AtomicWrite, index: number) {
    const { checks, mutations } = write;
    this.write = write;
    this.index = index;
    this.read = checks.map(({ key }) => textOf(key));
    this.written = mutations.flatMap(changedKeys).map(textOf);
    this.bytes = bytesOf(write);
    this.endsInVersionstamp = mutations.some(isWithVersionstamp);
    this.needsState = mutations.some(dependsOnStored);
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

function isWithVersionstamp(mutation: StoredMutation): boolean {
  return mutation.type === "set" && mutation.endsInVersionstamp === true;
}

function bytesOf({ checks, mutations }: AtomicWrite): number {
  let bytes = 0;
  for (const { key } of checks) bytes += 3 * (key.length + overhead);
  for (const mutation of mutations) {
    bytes += mutation.key.length + overhead + (mutation.type === "set" ? mutation.value.length : 0);
  }
  return bytes;
}
