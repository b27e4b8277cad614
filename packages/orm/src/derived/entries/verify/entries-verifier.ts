import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
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
import type { VerifyContext } from "../../maintenance.js";
import { runScans, type VerificationOptions, withVerification } from "../../verify/run-scans.js";
import type { Verification } from "../../verify/verification.js";
import type { Confirmed, Scan, Suspect, Verifier } from "../../verify/verifier.js";
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

type EntriesContext = Omit<VerifyContext, "store" | "renewRows"> & { readonly store: ModelStore };

type EntrySuspects = Suspect<Inspection>[];

/**
 * Verifies in both directions that the rows match the entries of complete indexes. Entries of
 * pointers are summed up, and copies of rows are compared in the first phase.
 *
 * Repairs are made under checks. A unique key is not taken from a row that rightfully has it. A row
 * that an index cannot hold should have no entry there. Such rows are listed separately from the
 * findings. Rows count as they are stored. A row that a migration has not yet reached has the
 * entries of its old shape.
 */
export class EntriesVerifier implements Verifier<Inspection> {
  readonly #store: ModelStore;
  readonly #run: MigrationRun;
  readonly #verification: Verification;
  readonly #indexes: readonly CompiledIndex[];
  readonly #repair: boolean;
  readonly #partOf: string | undefined;
  #hasDroppedCounters = false;

  constructor({ store, run, verification, indexes, repair, partOf }: EntriesContext) {
    this.#store = store;
    this.#run = run;
    this.#verification = verification;
    this.#indexes = indexes;
    this.#repair = repair;
    this.#partOf = partOf;
  }

  async compareRows(page: readonly KvEntry<AnyRow>[]): Promise<EntrySuspects> {
    const { model } = this.#store;
    const { isSumming, sums } = this.#verification;
    const expected: ExpectedEntry[] = [];
    const unindexed: UnindexedRow[] = [];
    for (const { key, value } of page) {
      const primaryKey = key.slice(1);
      const onRefused = isSumming ? noteRefused(model, primaryKey, unindexed) : undefined;
      for (const entry of expectedEntries(model, this.#indexes, value, primaryKey, onRefused)) {
        const isPointer = entry.index.store === "pointer";
        if (isPointer && isSumming) sums.add(entry.key, primaryKey);
        else if (isPointer ? sums.differsAt(entry.key) : isSumming) {
          expected.push({ entry, primaryKey });
        }
      }
    }
    const { kept, stored } = await readEntries(this.#store, expected);
    unindexed.push(...unstorableRows(model, expected, kept));
    this.#verification.addUnindexed(unindexed);
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
      return () => inspectRowEntry(this.#store, { index, key }, primaryKey);
    });
  }

  scans(): Scan<Inspection>[] {
    const { isSumming } = this.#verification;
    const scanned = this.#indexes.filter((index) => isSumming || index.store === "pointer");
    return scanned.map((index) => ({
      prefix: [index.place],
      compare: (page) => this.#compareEntries(index, page),
    }));
  }

  async #compareEntries(
    index: CompiledIndex,
    page: readonly KvEntry<unknown>[],
  ): Promise<EntrySuspects> {
    const { model } = this.#store;
    const { isSumming, sums, state } = this.#verification;
    const isPointer = index.store === "pointer";
    if (isSumming) state.entries += page.length;
    if (isSumming && isPointer) {
      for (const { key, value } of page) sums.remove(model, key, value);
      return [];
    }
    const suspects: EntrySuspects = [];
    const suspect = (key: KvKey) => suspects.push(() => inspectEntry(this.#store, index, key));
    const named: { key: KvKey; primaryKey: readonly KvKeyPart[] }[] = [];
    for (const { key, value } of page) {
      if (isPointer && !sums.differsAt(key)) continue;
      const primaryKey = primaryKeyAt(model, index, key, value);
      if (primaryKey === undefined) suspect(key);
      else named.push({ key, primaryKey });
    }
    const rows = await readStored(
      this.#store,
      named.map(({ primaryKey }) => rowKey(model, primaryKey)),
    );
    for (const [i, { key, primaryKey }] of named.entries()) {
      const row = rows[i];
      if (row === undefined || !rowHasKey(model, index, key, primaryKey, row)) suspect(key);
    }
    return suspects;
  }

  async settle(found: readonly Confirmed<Inspection>[]): Promise<void> {
    const { state } = this.#verification;
    const unclaimed: Confirmed<Inspection>[] = [];
    for (const one of found) {
      const { kind, key } = one.found.finding;
      const isClaimed = kind === "dangling" && (await this.#verification.isClaimed(key));
      if (!isClaimed) unclaimed.push(one);
    }
    for (const { finding, looksDangling } of await this.#repaired(unclaimed)) {
      this.#verification.list("finding", finding);
      state.counts[finding.kind]++;
      if (finding.repaired) state.repaired++;
      else if (looksDangling) await this.#verification.claim(finding.key);
      if (finding.heldBy !== undefined) state.conflicts++;
    }
  }

  async #repaired(found: readonly Confirmed<Inspection>[]): Promise<Inspection[]> {
    if (!this.#repair) return found.map((one) => one.found);
    const isRepaired = found.some((one) => one.found.finding.heldBy === undefined);
    if (this.#partOf === undefined && isRepaired && !this.#hasDroppedCounters) {
      await dropCounters(this.#store, this.#run);
      this.#hasDroppedCounters = true;
    }
    return await repairEntries(this.#store, this.#run, found);
  }
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
  const verified = await withVerification(store, run, options, async (verification, indexes) => {
    const verifier = new EntriesVerifier({ ...options, store, run, verification, indexes });
    const isDone = await runScans(store, run, verification, [verifier], options);
    return isDone ? "done" : "stopped";
  });
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
