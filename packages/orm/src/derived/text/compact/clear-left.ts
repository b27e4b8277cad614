import type { KvKey } from "@keywright/core";
import type { ModelStore } from "../../../state/context/model-store.js";
import { isLimitError } from "../../../state/transaction/limit-error-of.js";
import { mergeKey, segmentPrefixes, stateKey, type TextGroup } from "../text-keys.js";
import { type TextState, textState } from "../text-state.js";
import type { IsOver } from "./merge.js";

const maxBatchKeys = 200;

/**
 * Removes the entries of segments that were merged, and of merges that were given up. If the
 * process dies, a later call continues.
 *
 * @param isOver returns true to stop. By default it removes all.
 * @returns false if something is left.
 */
export async function clearLeft(
  store: ModelStore,
  group: TextGroup,
  isOver: IsOver = () => false,
): Promise<boolean> {
  const { kv, model } = store;
  const { left } = textState(model, await kv.get(stateKey(group)));
  const cleared: number[] = [];
  for (const id of left) {
    if (!(await clearSegment(store, group, id, isOver))) break;
    cleared.push(id);
    if (isOver()) break;
  }
  if (cleared.length === 0) return left.length === 0;
  const isStored = await changeState(store, group, (state) => ({
    ...state,
    left: state.left.filter((id) => !cleared.includes(id)),
  }));
  return isStored && cleared.length === left.length;
}

/**
 * Records that merges are not finished any more. A program that continues one cannot commit any
 * longer. Their entries are left to be removed.
 *
 * @returns false if the catalog or the segments were changed too often.
 */
export function giveUp(
  store: ModelStore,
  group: TextGroup,
  lost: readonly number[],
): Promise<boolean> {
  return changeState(
    store,
    group,
    (state) => {
      const own = state.unfinished.filter(({ id }) => lost.includes(id)).map(({ id }) => id);
      const unfinished = state.unfinished.filter(({ id }) => !lost.includes(id));
      return { ...state, unfinished, left: [...state.left, ...own] };
    },
    lost.map((id) => mergeKey(group, id)),
  );
}

async function changeState(
  { kv, model, catalog }: ModelStore,
  group: TextGroup,
  change: (state: TextState) => TextState,
  deleted: readonly KvKey[] = [],
): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    const stored = await kv.get(stateKey(group));
    if (stored.versionstamp === null) return true;
    const operation = kv.atomic().check(catalog.snapshot.check, stored);
    for (const key of deleted) operation.delete(key);
    operation.set(stored.key, change(textState(model, stored)));
    if ((await operation.commit()).ok) return true;
  }
  return false;
}

async function clearSegment(
  store: ModelStore,
  group: TextGroup,
  id: number,
  isOver: IsOver,
): Promise<boolean> {
  for (const prefix of segmentPrefixes(group, id)) {
    if (!(await clearPrefix(store, prefix, isOver))) return false;
  }
  return true;
}

/** Returns false if it was stopped, or if the catalog has changed. */
async function clearPrefix(
  { kv, limits, catalog }: ModelStore,
  prefix: KvKey,
  isOver: IsOver,
): Promise<boolean> {
  let size = Math.max(1, Math.min(maxBatchKeys, limits.mutations - 1, limits.batchSize));
  for (;;) {
    const keys: KvKey[] = [];
    for await (const { key } of kv.list({ prefix }, { limit: size, batchSize: size })) {
      keys.push(key);
    }
    const isLast = keys.length < size;
    // A prefix is no key of its own range.
    const own = await kv.get(prefix);
    if (own.versionstamp !== null) keys.push(prefix);
    if (keys.length === 0) return true;
    const operation = kv.atomic().check(catalog.snapshot.check);
    try {
      for (const key of keys) operation.delete(key);
      if (!(await operation.commit()).ok) return false;
    } catch (error) {
      if (!isLimitError(error) || size === 1) throw error;
      size = Math.ceil(size / 2);
      continue;
    }
    if (isLast) return true;
    if (isOver()) return false;
  }
}
