import { compareBytes } from "../../../bytes/compare-bytes.js";
import type { AtomicWrite, ReadView, StoredSet } from "../../../engine/engine.js";
import { encodeKey } from "../../../keys/encode-key.js";
import { decodeValue } from "../../../values/decode-value.js";
import { encodeValue } from "../../../values/encode-value.js";

const markFormat = 1;
/** For how many milliseconds a mark refuses commits, unless it is stored again. */
export const refusalTime = 10_000;
/** Clocks hardly differ by more milliseconds. */
const clockTolerance = 60_000;

/**
 * The key of an entry that a database has while it is moved, and after it was moved. A write of the
 * mark has it as its first mutation.
 */
export const moveMarkKey: Uint8Array = encodeKey(["__keywright", "move"]);

/** What a database says about its move to another place. */
export interface MoveMark {
  /** What no other move has. */
  readonly id: string;
  /** The name of the new place, without passwords. */
  readonly to: string;
  /**
   * While the database is `"moving"`, it refuses all commits until {@link isMoveOver}. After it was
   * `"moved"`, it refuses them for good.
   */
  readonly state: "moving" | "moved";
  /**
   * Milliseconds since the epoch: the end of the refusal by one clock, or when the database was
   * moved.
   */
  readonly time: number;
}

/** The mark, and the versionstamp of its entry. */
export interface StoredMoveMark extends MoveMark {
  readonly version: string;
}

/**
 * True if the program that moves the database has ended: it has not stored the mark again since
 * this process has seen it. The clocks of the processes need not agree.
 *
 * @param seenAt when this process has first read the mark, by `performance.now()`.
 */
export function isMoveOver({ state, time }: MoveMark, seenAt: number): boolean {
  if (state !== "moving") return false;
  return performance.now() - seenAt > refusalTime || Date.now() > time + clockTolerance;
}

/** Returns the mutation that stores a mark, whose value is `[1, id, to, state, time]`. */
export function setMoveMark({ id, to, state, time }: MoveMark): StoredSet {
  const value = encodeValue([markFormat, id, to, state, time]);
  return { type: "set", key: moveMarkKey, value };
}

/** True if a write stores or removes the mark. */
export function isMoveMarkWrite({ mutations }: Pick<AtomicWrite, "mutations">): boolean {
  const key = mutations[0]?.key;
  return key?.length === moveMarkKey.length && compareBytes(key, moveMarkKey) === 0;
}

/** Reads the mark. Undefined if the database was not moved. */
export async function readMoveMark(
  reads: Pick<ReadView, "get">,
): Promise<StoredMoveMark | undefined> {
  const entry = await reads.get(moveMarkKey);
  if (entry === undefined) return undefined;
  const { versionstamp: version } = entry;
  const stored = decodeValue(entry.value);
  const [format, id, to, state, time] = Array.isArray(stored) ? stored : [];
  // The mark of a later release. To refuse commits is safe.
  if (format !== markFormat)
    return { version, id: "", to: "another place", state: "moved", time: 0 };
  return { version, id, to, state, time };
}
