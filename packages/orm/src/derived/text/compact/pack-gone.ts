import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { decodeNumbers, encodeNumbers } from "../format/segment-docs.js";
import { bytesIn } from "../stored-bytes.js";
import { goneKey, markedDoc, sectionPrefix, stateKey, type TextGroup } from "../text-keys.js";
import { type TextState, textState } from "../text-state.js";
import { goneLists } from "./gone-lists.js";

/** How many lists one commit changes, at most. */
const maxLists = 8;

/**
 * Replaces marks of documents that are gone by lists, so that searches read few entries.
 *
 * @param min the fewest marks that are worth it.
 * @returns how many marks it has replaced.
 */
export async function packGone(
  store: ModelStore,
  group: TextGroup,
  min: number,
  max: number,
): Promise<number> {
  const { kv, model, catalog, limits } = store;
  const stored = await kv.get(stateKey(group));
  const state = textState(model, stored);
  const most = Math.min(max, Math.max(1, limits.mutations - 1 - maxLists));
  const known = new Set(state.segments.map(({ id }) => id));
  const marks = await readMarks(store, group, known, most);
  const lists = [...marks].flatMap(([id, docs]) => goneLists(group, id, docs)).slice(0, maxLists);
  const size = lists.reduce((sum, { docs }) => sum + docs.length, 0);
  if (size < min || size === 0) return 0;
  const listed = await readStored(
    store,
    lists.map(({ key }) => key),
  );
  const operation = kv.atomic().check(catalog.snapshot.check, stored);
  const added = new Map<number, number>();
  for (const [i, { segment, key, docs }] of lists.entries()) {
    const list = listed[i]!;
    const before = list.versionstamp === null ? [] : decodeNumbers(bytesIn(model, list));
    const all = [...new Set([...before, ...docs])].sort((a, b) => a - b);
    operation.set(key, encodeNumbers(all));
    for (const doc of docs) operation.delete(goneKey(group, segment, doc));
    added.set(segment, (added.get(segment) ?? 0) + all.length - before.length);
  }
  const segments = state.segments.map((segment) => ({
    ...segment,
    gone: segment.gone + (added.get(segment.id) ?? 0),
  }));
  const next: TextState = { ...state, segments };
  return (await operation.set(stored.key, next).commit()).ok ? size : 0;
}

async function readMarks(
  { kv }: ModelStore,
  group: TextGroup,
  known: ReadonlySet<number>,
  max: number,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const marks = new Map<number, number[]>();
  const prefix = sectionPrefix(group, "gone");
  let left = max;
  for await (const { key } of kv.list({ prefix })) {
    const segment = key[prefix.length] as number;
    const doc = markedDoc(group, key);
    // A list of a segment that was merged would stay after the marks are removed.
    if (doc === undefined || !known.has(segment)) continue;
    if (left-- === 0) break;
    const ofSegment = marks.get(segment) ?? [];
    marks.set(segment, ofSegment);
    ofSegment.push(doc);
  }
  return marks;
}
