import { type IndexEntry, isUntouched } from "../../model/keys/index-entries.js";
import { awaitAll } from "../../promises/await-all.js";
import { whenReady } from "../../promises/when-ready.js";
import type { ReadView } from "../../state/context/read-view.js";
import { loadStemmer } from "../../text/languages.js";
import type { Derived, RowChange } from "../derived.js";
import type { Effects } from "../effects.js";
import { foldRegularly } from "./compact/text-upkeep.js";
import { freshValue } from "./fresh-value.js";
import { locateRow } from "./locate.js";
import { groupOf } from "./text-keys.js";

/** The words of rows, by which searches find them. */
export const text: Derived = {
  name: "text",
  isKept: ({ snapshot }) => snapshot.maintained.some((index) => index.text !== undefined),
  plan(change, view, effects) {
    const removed = change.entries.removed.filter(isOfText);
    const rewritten = change.entries.rewritten.filter((entry) => isRewritten(entry, change));
    const added = change.entries.added.filter(isOfText);
    const written = [...added, ...rewritten];
    if (written.length + removed.length === 0) return;
    const moved = [...removed, ...rewritten];
    return whenReady(loadStemmers(written), () => {
      addFresh(change, written, effects);
      effects.upkeep.push(() => foldRegularly(view, [...written, ...removed]));
      if (moved.length > 0) return leaveSegments(change, removed, moved, view, effects);
    });
  },
  cost: (_, indexes) => {
    const { length } = indexes.filter(({ text }) => text !== undefined);
    return { checks: length, writes: 4 * length };
  },
};

function isOfText({ index }: IndexEntry): boolean {
  return index.text !== undefined;
}

/** True if a row that keeps its key in an index has other words now, or expires at another time. */
function isRewritten({ index }: IndexEntry, { before, after, expiry }: RowChange): boolean {
  if (index.text === undefined) return false;
  if (expiry !== undefined || before === undefined || after === undefined) return true;
  return !isUntouched(index, before.row, after.row);
}

function loadStemmers(entries: readonly IndexEntry[]): Promise<unknown> | undefined {
  const loading = entries.flatMap(({ index }) => loadStemmer(index.text!.analyzer.language) ?? []);
  return loading.length === 0 ? undefined : awaitAll(loading);
}

/** Adds the words of the row, under a key of its own, so that no other row conflicts with it. */
function addFresh(
  { after, expiry }: RowChange,
  entries: readonly IndexEntry[],
  { writes }: Effects,
): void {
  const row = after?.row;
  for (const { index, key } of entries) {
    if (expiry === undefined)
      writes.push({ type: "set", key, value: freshValue(index.text!, row!) });
    else
      writes.push({
        type: "timed",
        expiry,
        writesUntil: (end) => [
          {
            type: "set",
            key,
            value: freshValue(index.text!, row!, end),
            expiry: { expireAt: end },
          },
        ],
      });
  }
}

/** Removes what there is of the row before the change: a fresh entry, or what a segment has. */
async function leaveSegments(
  { primaryKey }: RowChange,
  removed: readonly IndexEntry[],
  moved: readonly IndexEntry[],
  view: ReadView,
  { checks, writes }: Effects,
): Promise<void> {
  for (const { key } of removed) writes.push({ type: "delete", key });
  const located = await awaitAll(
    moved.map(({ index, key }) => locateRow(view, groupOf(index, key), primaryKey)),
  );
  for (const { marks, check } of located) {
    checks.push(check);
    for (const { mark, guard } of marks) {
      writes.push({ type: "set", key: mark, value: true }, { type: "sum", key: guard, by: 1n });
    }
  }
}
