import type { AtomicCheck, KvEntry } from "@keywright/core";
import { keyAfter } from "../../model/keys/key-parts.js";
import { type Boundary, fenceKey, fencesPrefix, first } from "./rank-keys.js";
import type { RankedReads } from "./ranked-table.js";

/** The fence of the interval to which writers add an entry. */
export interface Fence {
  readonly boundary: Boundary;
  /** The check that writers still add the entry to this interval. */
  readonly check: AtomicCheck;
}

/** Returns the fence of the interval to which an entry is added: the last one up to its key. */
export async function findFence(
  table: Pick<RankedReads, "kv" | "counter">,
  level: number,
  entry: Boundary,
): Promise<Fence> {
  const last = fenceKey(table, level, entry);
  return await lastFence(table, level, keyAfter(last));
}

/** Returns the last fence before a boundary, which is not that of the first interval. */
export async function fenceBefore(
  table: Pick<RankedReads, "kv" | "counter">,
  level: number,
  boundary: Boundary,
): Promise<Fence> {
  return await lastFence(table, level, fenceKey(table, level, boundary));
}

async function lastFence(
  table: Pick<RankedReads, "kv" | "counter">,
  level: number,
  end: readonly KvEntry<unknown>["key"][number][],
): Promise<Fence> {
  const start = fencesPrefix(table, level);
  const list = table.kv.list({ start, end }, { reverse: true, limit: 1, batchSize: 1 });
  const next = await list.next();
  if (next.done === true) {
    const key = fenceKey(table, level, first);
    return { boundary: first, check: { key, versionstamp: null } };
  }
  const { key, versionstamp } = next.value;
  const boundary = key.slice(start.length + 1);
  return { boundary, check: { key, versionstamp } };
}
