import type { AtomicOperation, KvEntryMaybe } from "@keywright/core";
import type { AnyRow } from "../../../model/compiled-model.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { keyText } from "../../../model/keys/key-text.js";
import type { Time } from "../../../model/rows/time.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { freshValue } from "../fresh-value.js";
import {
  documentKey,
  groupOf,
  groupPrefix,
  primaryKeyOfFresh,
  stateKey,
  type TextGroup,
} from "../text-keys.js";
import { type TextState, textState } from "../text-state.js";
import type { NewEntry } from "./new-segment.js";
import { segmentOf } from "./segment-of.js";
import { textSizes } from "./text-upkeep.js";

/** A row that a backfill adds to a text index. */
interface FilledRow {
  /** Its key is that of the fresh document, and its value is the row. */
  readonly entry: IndexEntry;
  readonly expireAt: Time | undefined;
}

/** A segment that a backfill adds to a group. */
export interface FilledSegment {
  readonly group: TextGroup;
  /** The list of segments as it is stored. */
  readonly stored: KvEntryMaybe<unknown>;
  readonly state: TextState;
  readonly entries: readonly NewEntry[];
}

/**
 * Plans a segment for each group with many of some rows. The commit must check that none of the
 * rows has changed. Then no writer has written a fresh document of it either.
 *
 * @returns the segments, and the rows that are to become fresh documents.
 */
export async function planSegments<Row extends FilledRow>(
  store: ModelStore,
  rows: readonly Row[],
): Promise<{ readonly segments: FilledSegment[]; readonly others: Row[] }> {
  const groups = new Map<string, { readonly group: TextGroup; readonly rows: Row[] }>();
  for (const row of rows) {
    const group = groupOf(row.entry.index, row.entry.key);
    const name = keyText(groupPrefix(group));
    const known = groups.get(name);
    if (known === undefined) groups.set(name, { group, rows: [row] });
    else known.rows.push(row);
  }
  const segments: FilledSegment[] = [];
  const others: Row[] = [];
  for (const { group, rows: ofGroup } of groups.values()) {
    if (ofGroup.length < textSizes.filled) others.push(...ofGroup);
    else segments.push(...(await planSegment(store, group, ofGroup)));
  }
  return { segments, others };
}

async function planSegment(
  store: ModelStore,
  group: TextGroup,
  rows: readonly FilledRow[],
): Promise<FilledSegment[]> {
  const keys = rows.map(({ entry }) => entry.key);
  const [stored, ...fresh] = await readStored(store, [stateKey(group), ...keys]);
  // Rows that were written since the index is maintained have their fresh documents.
  const missing = rows.filter((_, i) => fresh[i]!.versionstamp === null);
  if (missing.length === 0) return [];
  const documents = missing.map(({ entry, expireAt }) => ({
    key: documentKey(primaryKeyOfFresh(group, entry.key)),
    bytes: freshValue(group.index.text!, entry.value as AnyRow, expireAt),
  }));
  const before = textState(store.model, stored!);
  const { segment, entries } = segmentOf(group, before.next, documents);
  const state = {
    ...before,
    next: before.next + 1,
    segments: [...before.segments, segment],
  };
  return [{ group, stored: stored!, state, entries }];
}

/** Adds the checks and writes of segments to the operation that commits them. */
export function addSegments(operation: AtomicOperation, segments: readonly FilledSegment[]): void {
  for (const { stored, state, entries } of segments) {
    operation.check(stored).set(stored.key, state);
    for (const { key, value } of entries) operation.set(key, value);
  }
}
