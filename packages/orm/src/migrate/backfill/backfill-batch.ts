import type { AtomicCheck, AtomicOperation, KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import { type Duplicate, duplicateKey, type UnindexedRow } from "../../catalog/backfill-state.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { type IndexEntry, indexEntries } from "../../indexes/index-entries.js";
import { keyText } from "../../indexes/key-text.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { setUntil } from "../../transaction/set-until.js";
import { claimUniqueKey } from "../../write/commit/claim-unique-key.js";
import { rowExpireAt } from "../../write/commit/row-expiry.js";
import {
  noObject,
  noteRefused,
  type OnRefused,
  unindexedReason,
  unstorableKey,
} from "../build/unindexed-rows.js";

/** An index entry, which goes when its row does. */
interface ExpiringEntry {
  readonly entry: IndexEntry;
  /** When the row goes, in milliseconds since 1970; undefined where it stays. */
  readonly expireAt: number | undefined;
  /** What must hold for it, beside what must for its row: none but for a unique one. */
  readonly checks: readonly AtomicCheck[];
}

/** What a batch of rows comes to: what must hold of the rows at its commit, and what it writes. */
export interface BackfillBatch {
  readonly checks: AtomicCheck[];
  readonly entries: ExpiringEntry[];
  readonly duplicates: Duplicate[];
  readonly unindexed: UnindexedRow[];
}

/**
 * Plans the entries that some rows have in new indexes. They are those of the rows as they are stored, which is what a
 * writer takes away again, also where readers see a row of an earlier schema as one of the program's.
 */
export async function planBatch(
  context: TableContext,
  indexes: readonly CompiledIndex[],
  rows: readonly KvEntry<AnyRow>[],
): Promise<BackfillBatch> {
  const { model, catalog } = context;
  const batch: BackfillBatch = { checks: [], entries: [], duplicates: [], unindexed: [] };
  const hasUnique = indexes.some((index) => index.unique);
  /** The unique keys that rows of this batch take. */
  const taken = new Set<string>();
  const { snapshot } = catalog;
  for (const { key, value: row, versionstamp, expireAt: ownExpireAt } of rows) {
    const primaryKey = key.slice(1);
    if (primaryKey.length !== model.primaryKey.length) continue;
    batch.checks.push({ key, versionstamp });
    const onRefused = noteRefused(model, primaryKey, batch.unindexed);
    const entries = entriesOf(context, indexes, row, primaryKey, onRefused);
    if (entries.length === 0) continue;
    const known = rowExpireAt(context, snapshot, { primaryKey, expireAt: ownExpireAt });
    const expireAt = known instanceof Promise ? await known : known;
    for (const entry of entries) {
      const expiring = { entry, expireAt, checks: [] };
      if (!hasUnique || !entry.index.unique) batch.entries.push(expiring);
      else await planUniqueEntry(context, expiring, primaryKey, taken, batch);
    }
  }
  return batch;
}

/** Adds a batch to the commit that makes it. */
export function addBatch(
  { model }: TableContext,
  operation: AtomicOperation,
  batch: BackfillBatch,
): void {
  for (const check of batch.checks) operation.check(check);
  const now = Date.now();
  for (const { entry, expireAt, checks } of batch.entries) {
    operation.check(...checks);
    operation.set(entry.key, entry.value, expireAt === undefined ? {} : setUntil(expireAt, now));
  }
  for (const duplicate of batch.duplicates) {
    operation.set(duplicateKey(model, duplicate), duplicate);
  }
}

async function planUniqueEntry(
  context: TableContext,
  expiring: ExpiringEntry,
  primaryKey: readonly KvKeyPart[],
  taken: Set<string>,
  batch: BackfillBatch,
): Promise<void> {
  const { entry } = expiring;
  const text = keyText(entry.key);
  const claim = await claimUniqueKey(context, entry, primaryKey);
  if (claim.owner !== undefined || taken.has(text)) {
    const [model, index] = [context.model.name, entry.index.name];
    batch.duplicates.push({ model, index, value: entry.key.slice(1), primaryKey });
    return;
  }
  taken.add(text);
  batch.entries.push({ ...expiring, checks: claim.checks });
}

/** The entries of a row. Where an index cannot hold it, that one has none of it. */
function entriesOf(
  { model, limits }: Pick<TableContext, "model" | "limits">,
  indexes: readonly CompiledIndex[],
  row: AnyRow,
  primaryKey: KvKey,
  onRefused: OnRefused,
): IndexEntry[] {
  const refuse = (some: readonly CompiledIndex[], reason: string): IndexEntry[] => {
    onRefused(some, reason);
    return [];
  };
  if (typeof row !== "object" || row === null || Array.isArray(row)) {
    return refuse(indexes, noObject);
  }
  try {
    const entries = indexEntries(model, indexes, row, primaryKey);
    const kept = entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
    if (kept.length === entries.length) return entries;
    const refused = entries.filter((entry) => !kept.includes(entry)).map(({ index }) => index);
    if (refused.length > 0) refuse([...new Set(refused)], unstorableKey);
    return kept;
  } catch (error) {
    if (!(error instanceof IndexKeyError)) throw error;
    const [only] = indexes;
    if (indexes.length === 1 && only !== undefined) return refuse(indexes, unindexedReason(error));
    return indexes.flatMap((index) =>
      entriesOf({ model, limits }, [index], row, primaryKey, onRefused),
    );
  }
}
