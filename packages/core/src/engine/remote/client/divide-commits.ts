import type { AtomicWrite, StoredMutation } from "../../engine.js";

/** The most bytes of a part of a message besides the keys and values in it. */
const overhead = 64;

/**
 * Divides writes, in their order, so that each group fits into a message. A write that is larger
 * than that is in a group of its own.
 *
 * @param maxBytes the largest message.
 */
export function divideCommits(
  writes: readonly AtomicWrite[],
  maxBytes: number,
): readonly (readonly AtomicWrite[])[] {
  if (writes.length <= 1 || maxBytes === Number.POSITIVE_INFINITY) return [writes];
  const groups: AtomicWrite[][] = [];
  let left = 0;
  for (const write of writes) {
    const bytes = bytesOfWrite(write);
    if (groups.length === 0 || bytes > left) {
      groups.push([]);
      left = maxBytes - overhead;
    }
    groups.at(-1)!.push(write);
    left -= bytes;
  }
  return groups;
}

/** Returns at least as many bytes as the write has in a message. */
function bytesOfWrite({ checks, rangeChecks = [], mutations, context }: AtomicWrite): number {
  let bytes = overhead + (context?.length ?? 0);
  for (const { key } of checks) bytes += overhead + key.length;
  for (const { range } of rangeChecks) bytes += overhead + range.start.length + range.end.length;
  for (const mutation of mutations) bytes += overhead + bytesOfMutation(mutation);
  return bytes;
}

function bytesOfMutation(mutation: StoredMutation): number {
  const { type, key } = mutation;
  if (type === "set") return key.length + mutation.value.length;
  return key.length + (type === "deleteExpired" ? (mutation.hint?.key.length ?? 0) : 0);
}
