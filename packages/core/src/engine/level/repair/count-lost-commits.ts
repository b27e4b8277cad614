import { sequenceOfVersionstamp } from "../../../values/versionstamp.js";
import type { CommitRecord } from "../commit-record.js";

/**
 * Returns the number of commits that are lost at least: those after the last versionstamp that is
 * left, up to the last one that is known. A group whose size is not known counts as one commit.
 */
export function countLostCommits(lost: readonly CommitRecord[], lastVersionstamp: string): number {
  const kept = sequenceOfVersionstamp(lastVersionstamp);
  const sizes = new Map<number, number>();
  for (const { last, previous } of lost) {
    for (const versionstamp of [last, previous]) {
      const sequence = sequenceOfVersionstamp(versionstamp);
      if (sequence > kept) sizes.set(sequence, orderOf(versionstamp) + 1);
    }
  }
  const newest = Math.max(kept, ...sizes.keys());
  const known = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return known + (newest - kept - sizes.size);
}

/** The order of a commit within its group, from 0. */
function orderOf(versionstamp: string): number {
  return Number.parseInt(versionstamp.slice(16), 16);
}
