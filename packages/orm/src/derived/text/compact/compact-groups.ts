import type { KvKeyPart } from "@keywright/core";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { groupOf, groupPrefix, stateKey, type TextGroup } from "../text-keys.js";
import { type Segment, textState } from "../text-state.js";
import { clearLeft } from "./clear-left.js";
import type { FilledSegment } from "./fill-segments.js";
import { foldFresh } from "./fold.js";
import { Merge } from "./merge.js";
import { packGone } from "./pack-gone.js";
import { textSizes } from "./text-upkeep.js";

/** The most documents of one segment that a fold of a migration makes. */
const maxFolded = 4096;
/** Larger segments are not merged while a migration makes more. */
const maxFilledDocs = 32_768;
/** How often a fold or a merge is tried while others write. */
const maxTries = 10;
/** A step of a merge takes about this many milliseconds. The lease is renewed after it. */
const stepTime = 200;

/**
 * Makes one segment of all documents of each group of some indexes, whose rows all have their fresh
 * entries. Others may write.
 *
 * @returns false if the signal stopped it. The next call continues.
 */
export async function compactIndexes(
  store: ModelStore,
  run: MigrationRun,
  indexes: readonly CompiledIndex[],
): Promise<boolean> {
  for (const index of indexes) {
    if (index.text === undefined) continue;
    for (let after: readonly KvKeyPart[] | undefined; ; ) {
      const group = await nextGroup(store, index, after);
      if (group === undefined) break;
      if (!(await compactGroup(store, run, group))) return false;
      after = group.values;
    }
  }
  return true;
}

/**
 * Merges the smallest segments of a group if a migration has made many, so that their list stays
 * short.
 */
export async function mergeFilled(
  store: ModelStore,
  run: MigrationRun,
  { group, state }: Pick<FilledSegment, "group" | "state">,
): Promise<void> {
  const filled = state.segments.filter(({ docs }) => docs < maxFilledDocs);
  if (filled.length < textSizes.maxFilled) return;
  const ids = smallestOf(store, filled);
  if (await mergeAll(store, group, ids, pacedBy(run))) await clearLeft(store, group);
}

/** The most segments of one merge. The commit that replaces them checks a guard of each. */
function mostMerged({ limits }: ModelStore): number {
  return Math.max(2, limits.checks - 3);
}

/** Returns the numbers of the segments to merge first. */
function smallestOf(store: ModelStore, segments: readonly Segment[]): number[] {
  const smallest = [...segments].sort((a, b) => a.docs - b.docs).slice(0, mostMerged(store));
  return smallest.map(({ id }) => id);
}

/** Renews the lease between two steps. The result is false if the signal has stopped the run. */
function pacedBy(run: MigrationRun): () => Promise<boolean> {
  return async () => {
    await run.lease.renew();
    await run.afterBatch(0);
    return run.signal?.aborted !== true;
  };
}

/** Returns the first group after another one. */
export async function nextGroup(
  { kv }: Pick<ModelStore, "kv">,
  index: CompiledIndex,
  after: readonly KvKeyPart[] | undefined,
): Promise<TextGroup | undefined> {
  const prefix = [index.place];
  // No part sorts after `true`, and no key of a group has two of them after its values.
  const start = after && [...groupPrefix({ index, values: after }), true, true];
  if (after !== undefined && after.length === 0) return undefined;
  const selector = start === undefined ? { prefix } : { prefix, start };
  for await (const { key } of kv.list(selector, { limit: 1 })) return groupOf(index, key);
  return undefined;
}

async function compactGroup(
  store: ModelStore,
  run: MigrationRun,
  group: TextGroup,
): Promise<boolean> {
  const pace = pacedBy(run);
  for (let tries = 0; tries < maxTries; ) {
    if (!(await pace())) return false;
    const fold = await foldFresh(store, group, 1, maxFolded);
    if (fold === "few") break;
    tries = fold === "conflict" ? tries + 1 : 0;
    // Where a commit has few checks, each fold takes few documents.
    const state = textState(store.model, await store.kv.get(stateKey(group)));
    await mergeFilled(store, run, { group, state });
  }
  for (let tries = 0; tries < maxTries; ) {
    if (!(await pace())) return false;
    await packGone(store, group, 1, 1000);
    const { segments } = textState(store.model, await store.kv.get(stateKey(group)));
    const [first] = segments;
    if (first === undefined || (segments.length === 1 && 10 * first.gone <= first.docs)) break;
    if (await mergeAll(store, group, smallestOf(store, segments), pace)) continue;
    tries++;
    if (run.signal?.aborted) return false;
    await store.catalog.reload();
  }
  await clearLeft(store, group);
  return true;
}

/** Returns false if others have changed the segments, or if `pace` has stopped it. */
async function mergeAll(
  store: ModelStore,
  group: TextGroup,
  ids: readonly number[],
  pace: () => Promise<boolean>,
): Promise<boolean> {
  const merge = await Merge.begin(store, group, ids);
  if (merge === undefined) return false;
  for (;;) {
    const end = performance.now() + stepTime;
    const result = await merge.step(store, () => performance.now() >= end);
    if (result !== "more") return result === "merged";
    if (!(await pace())) return false;
  }
}
