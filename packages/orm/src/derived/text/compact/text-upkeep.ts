import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { keyText } from "../../../model/keys/key-text.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { groupOf, groupPrefix, stateKey, type TextGroup } from "../text-keys.js";
import { type Segment, type TextState, textState } from "../text-state.js";
import { clearLeft, giveUp } from "./clear-left.js";
import { foldFresh } from "./fold.js";
import { type IsOver, Merge } from "./merge.js";
import { packGone } from "./pack-gone.js";

/**
 * When documents are moved. All programs work with segments of any size, so tests make them small.
 */
export const textSizes: {
  /** How many fresh documents become a segment. A search reads at most about as many. */
  fold: number;
  /** The rows of a group in a batch of a backfill that become a segment, at least. */
  filled: number;
  /** After how many segments a migration merges them while it makes more. */
  maxFilled: number;
  /** How many marks of documents that are gone become a list. */
  marks: number;
  /** How many segments of about the same size are merged. */
  fanOut: number;
  /** The documents of a segment that writers merge, at most. Migrations merge larger ones. */
  maxMerged: number;
  /** After how many changes a program looks at the group of the last one. */
  changesBetween: number;
  /** After how many changes a program continues what it has begun to merge or to remove. */
  changesBetweenSteps: number;
  /** How many milliseconds such a step takes. */
  stepTime: number;
  /** After how many milliseconds another program continues a merge. */
  lease: number;
} = {
  fold: 128,
  filled: 64,
  maxFilled: 256,
  marks: 256,
  fanOut: 8,
  maxMerged: 32_768,
  changesBetween: 61,
  changesBetweenSteps: 4,
  stepTime: 10,
  lease: 60_000,
};

/** The groups for which a program keeps a merge. It resumes others as any program would. */
const maxGroups = 8;

/** How many changes this program has made since it looked at a group, by the place of an index. */
const changes = new Map<string, number>();

/** What a program does for the groups of a database. */
interface Works {
  /** The groups that it is looking at. */
  readonly busy: Set<string>;
  /** The groups in which something is left to do, with the merge that it continues. */
  readonly begun: Map<string, Merge | undefined>;
}

const worksOf = new WeakMap<object, Works>();

/**
 * Makes segments of fresh documents, and merges segments, if there are too many of them. Looks only
 * after every 61st change of an index. A merge is done in short steps, each after a later change.
 */
export async function foldRegularly(view: ReadView, changed: readonly IndexEntry[]): Promise<void> {
  const { store } = view;
  const { database } = store.catalog;
  for (const { index, key } of changed) {
    const works = worksOf.get(database) ?? { busy: new Set(), begun: new Map() };
    worksOf.set(database, works);
    const due = nextTask(index, works);
    if (due === undefined || store.catalog.snapshot.stateOf(index) !== "readable") continue;
    const group = groupOf(index, key);
    const name = keyText(groupPrefix(group));
    if (works.busy.has(name) || (due === "step" && !works.begun.has(name))) continue;
    works.busy.add(name);
    try {
      const own = { ...store, kv: database };
      // One change does not wait for both. The next one looks again.
      if (due === "look" && (await foldGroup(own, group))) continue;
      await keepMerging(own, group, name, works);
    } catch {
      // The write that it follows has not failed. A later call continues.
      works.begun.delete(name);
    } finally {
      works.busy.delete(name);
    }
  }
}

/** Counts a change. */
function nextTask({ place }: CompiledIndex, { begun }: Works): "look" | "step" | undefined {
  const { changesBetween, changesBetweenSteps } = textSizes;
  // Programs that make few changes each also look sometimes.
  const count = (changes.get(place) ?? Math.floor(Math.random() * changesBetween)) + 1;
  const isLook = count >= changesBetween;
  changes.set(place, isLook ? 0 : count);
  if (isLook) return "look";
  return begun.size > 0 && count % changesBetweenSteps === 0 ? "step" : undefined;
}

/**
 * Makes one segment, if there are enough fresh documents. If there are more, the next call does.
 *
 * @returns true if it has made one.
 */
async function foldGroup(store: ModelStore, group: TextGroup): Promise<boolean> {
  const { fold, marks, changesBetween } = textSizes;
  const result = await foldFresh(store, group, fold, fold);
  if (result === "folded") changes.set(group.index.place, changesBetween);
  else await packGone(store, group, marks, 4 * marks);
  return result === "folded";
}

/** Continues what there is to merge or to remove in a group, for a short time. */
async function keepMerging(
  store: ModelStore,
  group: TextGroup,
  name: string,
  { begun }: Works,
): Promise<void> {
  const end = performance.now() + textSizes.stepTime;
  const isOver = () => performance.now() >= end;
  const merge = begun.get(name) ?? (await nextMerge(store, group, isOver));
  begun.delete(name);
  if (merge === undefined) return;
  const result = merge === "more" ? "merged" : await merge.step(store, isOver);
  if (result === "lost") return;
  begun.set(name, merge === "more" || result === "merged" ? undefined : merge);
  for (const other of begun.keys()) {
    if (begun.size <= maxGroups) break;
    begun.delete(other);
  }
}

/**
 * Removes what merges have left, or returns the merge to continue.
 *
 * @returns `"more"` if something is left to remove.
 */
async function nextMerge(
  store: ModelStore,
  group: TextGroup,
  isOver: IsOver,
): Promise<Merge | "more" | undefined> {
  const { kv, model } = store;
  const state = textState(model, await kv.get(stateKey(group)));
  if (state.left.length > 0) {
    await clearLeft(store, group, isOver);
    return "more";
  }
  for (const { id } of state.unfinished) {
    const resumed = await Merge.resume(store, group, state, id, textSizes.lease);
    if (resumed === "busy") return undefined;
    if (resumed !== "lost") return resumed;
    await giveUp(store, group, [id]);
    return "more";
  }
  const due = dueMerge(state, Math.max(2, store.limits.checks - 2));
  return due && (await Merge.begin(store, group, due));
}

/**
 * Returns the segments to merge: many of about the same size, or one with many gone documents.
 *
 * @param most the most segments. The last commit of a merge has a check of each.
 */
function dueMerge({ segments }: TextState, most: number): readonly number[] | undefined {
  const { fold, fanOut, maxMerged } = textSizes;
  const levels = new Map<number, Segment[]>();
  for (const segment of segments) {
    const level = Math.floor(Math.log(Math.max(1, segment.docs / fold)) / Math.log(fanOut) + 0.1);
    levels.set(level, [...(levels.get(level) ?? []), segment]);
  }
  for (const level of [...levels.keys()].sort((a, b) => a - b)) {
    const all = levels.get(level)!;
    const due = Math.min(fanOut, most);
    if (all.length < due) continue;
    const chosen = smallestWithin(all, most, maxMerged);
    // A few of the largest ones that writers merge are worth it too, as their list stays shorter.
    if (chosen.length >= Math.max(2, due / 2)) return chosen.map(({ id }) => id);
  }
  const worn = segments.find(
    ({ docs, gone }) => gone > 64 && gone > 0.3 * docs && docs - gone <= maxMerged,
  );
  return worn && [worn.id];
}

/** Returns the smallest segments that together have at most some documents. */
function smallestWithin(segments: readonly Segment[], most: number, maxDocs: number): Segment[] {
  const sizeOf = ({ docs, gone }: Segment) => docs - gone;
  const bySize = [...segments].sort((a, b) => sizeOf(a) - sizeOf(b)).slice(0, most);
  let docs = 0;
  const end = bySize.findIndex((segment) => {
    docs += sizeOf(segment);
    return docs > maxDocs;
  });
  return end < 0 ? bySize : bySize.slice(0, end);
}
