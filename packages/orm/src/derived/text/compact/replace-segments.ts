import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { encodeNumbers } from "../format/segment-docs.js";
import { type GoneDocs, readGone } from "../segment-source.js";
import { guardKey, mergeKey, stateKey, type TextGroup } from "../text-keys.js";
import { type Segment, type TextState, textState } from "../text-state.js";
import { goneLists } from "./gone-lists.js";

/** The segments that were merged, with the new numbers of their documents. */
interface MergedSegments {
  readonly segments: readonly Segment[];
  readonly numbers: readonly Int32Array[];
}

/**
 * Replaces segments by the one that they were merged into. Documents that have gone since the merge
 * began are gone from the new segment. A commit that marks one checks the list of segments.
 *
 * @returns false if the segments have changed.
 */
export async function replaceSegments(
  store: ModelStore,
  group: TextGroup,
  sources: MergedSegments,
  merged: Segment,
): Promise<boolean> {
  const { kv, model, catalog } = store;
  const { segments } = sources;
  for (let tries = 0; tries < 20; tries++) {
    const stored = await kv.get(stateKey(group));
    const state = textState(model, stored);
    const known = new Set(state.segments.map(({ id }) => id));
    const isReserved = state.unfinished.some(({ id }) => id === merged.id);
    if (!isReserved || !segments.every(({ id }) => known.has(id))) return false;
    // Each commit that writes a mark adds 1 to the guard of its segment. So no mark comes between.
    const guards = await readStored(
      store,
      segments.map(({ id }) => guardKey(group, id)),
    );
    const gone = lateDocs(sources, await readGone(store, group));
    const ids = segments.map(({ id }) => id);
    const next: TextState = {
      ...state,
      segments: [
        ...state.segments.filter(({ id }) => !ids.includes(id)),
        ...(merged.docs === 0 ? [] : [{ ...merged, gone: gone.length }]),
      ],
      unfinished: state.unfinished.filter(({ id }) => id !== merged.id),
      left: [...state.left, ...ids, ...(merged.docs === 0 ? [merged.id] : [])],
    };
    const operation = kv.atomic().check(catalog.snapshot.check, stored, ...guards);
    for (const { key, docs } of goneLists(group, merged.id, gone))
      operation.set(key, encodeNumbers(docs));
    operation.delete(mergeKey(group, merged.id)).set(stored.key, next);
    if ((await operation.commit()).ok) return true;
    await catalog.reload();
    if (!catalog.snapshot.maintained.some(({ place }) => place === group.index.place)) return false;
  }
  return false;
}

/**
 * Returns the numbers in the new segment of documents that have gone since a merge began. Those
 * that were gone before have no number.
 */
function lateDocs({ segments, numbers }: MergedSegments, gone: GoneDocs): number[] {
  const late = new Set<number>();
  for (const [i, { id }] of segments.entries()) {
    for (const doc of gone.get(id) ?? []) {
      const number = numbers[i]![doc]!;
      if (number >= 0) late.add(number);
    }
  }
  return [...late].sort((a, b) => a - b);
}
