import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { UnindexedRow } from "../../catalog/backfill-state.js";
import type { TableContext } from "../../context/table-context.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { expectedEntries, readStored } from "../build/expected-entries.js";
import { noteRefused, unstorableKey } from "../build/unindexed-rows.js";
import { nextRows } from "../run/scan-rows.js";
import { inspectRowEntry, isOwnValue } from "./inspect-entry.js";
import type { Repairable } from "./repair-entries.js";
import type { Verification } from "./verify-state.js";

/** An entry that a row should have. */
interface OwnEntry {
  readonly entry: IndexEntry;
  readonly primaryKey: readonly KvKeyPart[];
}

/** How many rows or entries a step has looked at, and whether they were the last of their scan. */
export interface VerifyStep {
  readonly looked: number;
  readonly isLast: boolean;
  /** What may be wrong. */
  readonly suspects: readonly Suspect[];
}

/** An entry that looked wrong, and how it is looked at once more. */
export type Suspect = Repairable["again"];

/** Sums up the entries that the next rows should have in those of some indexes that are of pointers. */
export async function sumRows(
  context: TableContext,
  verification: Verification,
  indexes: readonly CompiledIndex[],
  limit: number,
): Promise<VerifyStep> {
  const { model } = context;
  const rows = await nextRows(context, verification.state.after, limit);
  const unindexed: UnindexedRow[] = [];
  for (const { key, value } of rows) {
    const primaryKey = key.slice(1);
    const onRefused = noteRefused(model, primaryKey, unindexed);
    for (const { key: own, index } of expectedEntries(
      model,
      indexes,
      value,
      primaryKey,
      onRefused,
    )) {
      if (index.store === "pointer") verification.sums.add(own, primaryKey);
    }
  }
  verification.addUnindexed(unindexed);
  const looked = rows.length;
  const last = rows.at(-1);
  if (last !== undefined) verification.advance(last.key.slice(1), looked, "rows");
  return { looked, isLast: looked < limit, suspects: [] };
}

/** Looks whether the next rows have the entries that they should have, as far as the sums do not say so already. */
export async function verifyRows(
  context: TableContext,
  verification: Verification,
  indexes: readonly CompiledIndex[],
  limit: number,
  areCounted: boolean,
): Promise<VerifyStep> {
  const { model } = context;
  const rows = await nextRows(context, verification.state.after, limit);
  const own: OwnEntry[] = [];
  const unindexed: UnindexedRow[] = [];
  for (const { key, value } of rows) {
    const primaryKey = key.slice(1);
    // Where the rows were summed up, they were noted then.
    const onRefused = areCounted ? noteRefused(model, primaryKey, unindexed) : undefined;
    for (const entry of expectedEntries(model, indexes, value, primaryKey, onRefused)) {
      const isPointer = entry.index.store === "pointer";
      if (!isPointer || verification.sums.differsAt(entry.key)) own.push({ entry, primaryKey });
    }
  }
  const { kept, stored } = await readEntries(context, own);
  unindexed.push(...unstorableRows(model, own, kept));
  verification.addUnindexed(unindexed);
  const suspects: Suspect[] = [];
  for (const [i, { entry, primaryKey }] of kept.entries()) {
    const there = stored[i];
    const isRight =
      there !== undefined &&
      there.versionstamp !== null &&
      isOwnValue(model, entry, primaryKey, there.value);
    // Neither the row nor its entries are kept until they are looked at again.
    const { index, key } = entry;
    if (!isRight) suspects.push(() => inspectRowEntry(context, { index, key }, primaryKey));
  }
  const looked = rows.length;
  const last = rows.at(-1);
  if (last !== undefined) {
    verification.advance(last.key.slice(1), looked, areCounted ? "rows" : undefined);
  }
  return { looked, isLast: looked < limit, suspects };
}

/** The rows whose entries the database does not take. */
function unstorableRows(
  model: CompiledModel,
  own: readonly OwnEntry[],
  kept: readonly OwnEntry[],
): UnindexedRow[] {
  if (kept.length === own.length) return [];
  const storable = new Set(kept);
  const refused = new Map<readonly KvKeyPart[], Set<CompiledIndex>>();
  for (const one of own) {
    if (storable.has(one)) continue;
    const { primaryKey, entry } = one;
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
  context: TableContext,
  own: readonly OwnEntry[],
): Promise<{ kept: readonly OwnEntry[]; stored: readonly KvEntryMaybe<unknown>[] }> {
  const read = (some: readonly OwnEntry[]) =>
    readStored(
      context,
      some.map(({ entry }) => entry.key),
    );
  try {
    return { kept: own, stored: await read(own) };
  } catch (error) {
    const kept = own.filter(({ entry }) => canBeStored(entry.key, context.limits.keyBytes));
    if (kept.length === own.length) throw error;
    return { kept, stored: await read(kept) };
  }
}
