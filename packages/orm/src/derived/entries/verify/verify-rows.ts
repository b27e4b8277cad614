import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { canBeStored } from "../../../model/keys/can-be-stored.js";
import { expectedEntries } from "../../../model/keys/expected-entries.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import type { UnindexedRow } from "../../../state/catalog/backfill-state.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { PageReader } from "../../../state/run/page-reader.js";
import { noteRefused, unstorableKey } from "../fill/unindexed-rows.js";
import { inspectRowEntry, isExpectedValue } from "./inspect-entry.js";
import type { Repairable } from "./repair-entries.js";
import type { Verification } from "./verify-state.js";

interface ExpectedEntry {
  readonly entry: IndexEntry;
  readonly primaryKey: readonly KvKeyPart[];
}

/** How many rows or entries a step has read, and whether they were the last of their scan. */
export interface VerifyStep {
  readonly looked: number;
  readonly isLast: boolean;
  readonly suspects: readonly Suspect[];
}

/** Inspects an entry again that looked wrong. */
export type Suspect = Repairable["inspectAgain"];

/** Adds the expected entries of the next rows to the sums, for indexes of pointers. */
export async function sumRows(
  context: ModelStore,
  pages: PageReader,
  verification: Verification,
  indexes: readonly CompiledIndex[],
  limit: number,
): Promise<VerifyStep> {
  const { model } = context;
  const { entries: rows, isLast } = await pages.rows(verification.state.after, limit);
  const unindexed: UnindexedRow[] = [];
  for (const { key, value } of rows) {
    const primaryKey = key.slice(1);
    const onRefused = noteRefused(model, primaryKey, unindexed);
    for (const { key: entryKey, index } of expectedEntries(
      model,
      indexes,
      value,
      primaryKey,
      onRefused,
    )) {
      if (index.store === "pointer") verification.sums.add(entryKey, primaryKey);
    }
  }
  verification.addUnindexed(unindexed);
  const looked = rows.length;
  const last = rows.at(-1);
  if (last !== undefined) verification.advance(last.key.slice(1), looked, "rows");
  return { looked, isLast, suspects: [] };
}

/**
 * Checks whether the next rows have the entries that they should have. Entries of pointers that the
 * sums show to be right are skipped.
 *
 * @param countsRows true if no earlier scan has counted the rows.
 */
export async function verifyRows(
  context: ModelStore,
  pages: PageReader,
  verification: Verification,
  indexes: readonly CompiledIndex[],
  limit: number,
  countsRows: boolean,
): Promise<VerifyStep> {
  const { model } = context;
  const { entries: rows, isLast } = await pages.rows(verification.state.after, limit);
  const expected: ExpectedEntry[] = [];
  const unindexed: UnindexedRow[] = [];
  for (const { key, value } of rows) {
    const primaryKey = key.slice(1);
    // If the rows were summed up, their refused entries were noted in that scan.
    const onRefused = countsRows ? noteRefused(model, primaryKey, unindexed) : undefined;
    for (const entry of expectedEntries(model, indexes, value, primaryKey, onRefused)) {
      const isPointer = entry.index.store === "pointer";
      if (!isPointer || verification.sums.differsAt(entry.key))
        expected.push({ entry, primaryKey });
    }
  }
  const { kept, stored } = await readEntries(context, expected);
  unindexed.push(...unstorableRows(model, expected, kept));
  verification.addUnindexed(unindexed);
  const suspects: Suspect[] = [];
  for (const [i, { entry, primaryKey }] of kept.entries()) {
    const found = stored[i];
    const isRight =
      found !== undefined &&
      found.versionstamp !== null &&
      isExpectedValue(model, entry, primaryKey, found.value);
    // The closure keeps only the key, so that the row and its other entries can be freed.
    const { index, key } = entry;
    if (!isRight) suspects.push(() => inspectRowEntry(context, { index, key }, primaryKey));
  }
  const looked = rows.length;
  const last = rows.at(-1);
  if (last !== undefined) {
    verification.advance(last.key.slice(1), looked, countsRows ? "rows" : undefined);
  }
  return { looked, isLast, suspects };
}

function unstorableRows(
  model: CompiledModel,
  expected: readonly ExpectedEntry[],
  kept: readonly ExpectedEntry[],
): UnindexedRow[] {
  if (kept.length === expected.length) return [];
  const storable = new Set(kept);
  const refused = new Map<readonly KvKeyPart[], Set<CompiledIndex>>();
  for (const expectedEntry of expected) {
    if (storable.has(expectedEntry)) continue;
    const { primaryKey, entry } = expectedEntry;
    const indexes = refused.get(primaryKey) ?? new Set();
    refused.set(primaryKey, indexes.add(entry.index));
  }
  const unindexed: UnindexedRow[] = [];
  for (const [primaryKey, indexes] of refused) {
    noteRefused(model, primaryKey, unindexed)([...indexes], unstorableKey);
  }
  return unindexed;
}

async function readEntries(
  context: ModelStore,
  expected: readonly ExpectedEntry[],
): Promise<{ kept: readonly ExpectedEntry[]; stored: readonly KvEntryMaybe<unknown>[] }> {
  const read = (entries: readonly ExpectedEntry[]) =>
    readStored(
      context,
      entries.map(({ entry }) => entry.key),
    );
  try {
    return { kept: expected, stored: await read(expected) };
  } catch (error) {
    const kept = expected.filter(({ entry }) => canBeStored(entry.key, context.limits.keyBytes));
    if (kept.length === expected.length) throw error;
    return { kept, stored: await read(kept) };
  }
}
