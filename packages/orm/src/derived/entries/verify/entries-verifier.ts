import type { KvEntry, KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { canBeStored } from "../../../model/keys/can-be-stored.js";
import { expectedEntries, rowHasKey } from "../../../model/keys/expected-entries.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import type { UnindexedRow } from "../../../state/catalog/backfill-state.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { dropCounters } from "../../counters/drop-counters.js";
import { runScans, withVerification } from "../../verify/run-scans.js";
import type {
  Confirmed,
  Suspect,
  VerificationOptions,
  Verifier,
  VerifyContext,
  Walk,
} from "../../verify/verifier.js";
import { noteRefused, unstorableKey } from "../fill/unindexed-rows.js";
import {
  type Inspection,
  inspectEntry,
  inspectRowEntry,
  isExpectedValue,
  primaryKeyAt,
} from "./inspect-entry.js";
import { repairEntries } from "./repair-entries.js";

interface ExpectedEntry {
  readonly entry: IndexEntry;
  readonly primaryKey: readonly KvKeyPart[];
}

type EntriesContext = VerifyContext<ModelStore>;

/**
 * Verifies in both directions that the rows match the entries of complete indexes. Entries of
 * pointers are summed up, and copies of rows are compared in the first phase.
 *
 * Repairs are made under checks. A unique key is not taken from a row that rightfully has it. A row
 * that an index cannot hold should have no entry there. Such rows are listed separately from the
 * findings. Rows count as they are stored. A row that a migration has not yet reached has the
 * entries of its old shape.
 */
export const entriesVerifier: Verifier<Inspection, ModelStore> = { compare, walks, settle };

async function compare(
  page: readonly KvEntry<AnyRow>[],
  { store, indexes: all, verification }: EntriesContext,
): Promise<Suspect<Inspection>[]> {
  const indexes = all.filter(({ text }) => text === undefined);
  if (indexes.length === 0) return [];
  const { model } = store;
  const { isSumming, sums } = verification;
  const expected: ExpectedEntry[] = [];
  const unindexed: UnindexedRow[] = [];
  for (const { key, value } of page) {
    const primaryKey = key.slice(1);
    const onRefused = isSumming ? noteRefused(model, primaryKey, unindexed) : undefined;
    for (const entry of expectedEntries(model, indexes, value, primaryKey, onRefused)) {
      const isPointer = entry.index.store === "pointer";
      if (isPointer && isSumming) sums.add(entry.key, primaryKey);
      else if (isPointer ? sums.differsAt(entry.key) : isSumming) {
        expected.push({ entry, primaryKey });
      }
    }
  }
  const { kept, stored } = await readEntries(store, expected);
  unindexed.push(...unstorableRows(model, expected, kept));
  verification.addUnindexed(unindexed);
  return kept.flatMap(({ entry, primaryKey }, i) => {
    const found = stored[i];
    if (
      found !== undefined &&
      found.versionstamp !== null &&
      isExpectedValue(model, entry, primaryKey, found.value)
    )
      return [];
    // The closure keeps only the key, so that the row and its other entries can be freed.
    const { index, key } = entry;
    return () => inspectRowEntry(store, { index, key }, primaryKey);
  });
}

function walks({ store, indexes, verification }: EntriesContext): Walk<Inspection>[] {
  const { isSumming, sums, state } = verification;
  const { model } = store;
  const walked = indexes.filter(({ text, store: content }) => {
    return text === undefined && (isSumming || content === "pointer");
  });
  return walked.map((index) => ({
    prefix: [index.place],
    compare: async (page) => {
      if (isSumming) state.entries += page.length;
      if (index.store !== "pointer") return await dangling(store, index, page);
      if (!isSumming)
        return await dangling(
          store,
          index,
          page.filter(({ key }) => sums.differsAt(key)),
        );
      for (const { key, value } of page) sums.remove(model, key, value);
      return [];
    },
  }));
}

/** Returns the entries that seem to belong to no row. */
async function dangling(
  store: ModelStore,
  index: CompiledIndex,
  entries: readonly KvEntry<unknown>[],
): Promise<Suspect<Inspection>[]> {
  const { model } = store;
  const named = entries.map(({ key, value }) => primaryKeyAt(model, index, key, value));
  const keys = named.flatMap((primaryKey) => (primaryKey ? [rowKey(model, primaryKey)] : []));
  const rows = (await readStored(store, keys)).values();
  return entries.flatMap(({ key }, i) => {
    const primaryKey = named[i];
    const row = primaryKey && rows.next().value;
    return row && rowHasKey(model, index, key, primaryKey, row)
      ? []
      : () => inspectEntry(store, index, key);
  });
}

async function settle(
  found: readonly Confirmed<Inspection>[],
  context: EntriesContext,
): Promise<void> {
  const { verification } = context;
  const { state } = verification;
  const unclaimed: Confirmed<Inspection>[] = [];
  for (const one of found) {
    const { kind, key } = one.found.finding;
    const isClaimed = kind === "dangling" && (await verification.isClaimed(key));
    if (!isClaimed) unclaimed.push(one);
  }
  for (const { finding, looksDangling } of await repaired(unclaimed, context)) {
    verification.list("finding", finding);
    state.counts[finding.kind]++;
    if (finding.repaired) state.repaired++;
    else if (looksDangling) await verification.claim(finding.key);
    if (finding.heldBy !== undefined) state.conflicts++;
  }
}

async function repaired(
  found: readonly Confirmed<Inspection>[],
  { store, run, repair, partOf }: EntriesContext,
): Promise<Inspection[]> {
  if (!repair) return found.map((one) => one.found);
  const isRepaired = found.some((one) => one.found.finding.heldBy === undefined);
  if (partOf === undefined && isRepaired) await dropCounters(store, run);
  return await repairEntries(store, run, found);
}

/**
 * Verifies and repairs the entries of indexes that are being built. The migration builds the
 * counters.
 *
 * @returns false if the signal stopped it. The next call resumes there.
 */
export async function verifyBuiltEntries(
  store: ModelStore,
  run: MigrationRun,
  options: VerificationOptions,
): Promise<boolean> {
  const verified = await withVerification({ ...options, store, run }, async (context) =>
    (await runScans(context, [entriesVerifier])) ? "done" : "stopped",
  );
  return verified === "done";
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
