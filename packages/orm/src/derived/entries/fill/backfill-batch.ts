import type { AtomicCheck, AtomicOperation, KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import { canBeStored } from "../../../model/keys/can-be-stored.js";
import { expectedEntries, type OnRefused } from "../../../model/keys/expected-entries.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { keyText } from "../../../model/keys/key-text.js";
import { currentTime, storedTime, type Time } from "../../../model/rows/time.js";
import { awaitAll } from "../../../promises/await-all.js";
import {
  type Duplicate,
  duplicateKey,
  type UnindexedRow,
} from "../../../state/catalog/backfill-state.js";
import { withJoinedReads } from "../../../state/context/kv/with-joined-reads.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { viewOf } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { setUntil } from "../../../state/transaction/buffer/set-until.js";
import { loadStemmer } from "../../../text/languages.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import { addSegments, type FilledSegment, planSegments } from "../../text/compact/fill-segments.js";
import { freshValue } from "../../text/fresh-value.js";
import { claimUniqueKey, type UniqueKeyClaim } from "../duplicates/claim-unique-key.js";
import { noteRefused, unstorableKey } from "./unindexed-rows.js";

interface ExpiringEntry {
  readonly entry: IndexEntry;
  readonly expireAt: Time | undefined;
  /** Additional checks, if the index is unique. */
  readonly checks: readonly AtomicCheck[];
}

interface UniqueEntry {
  readonly expiring: ExpiringEntry;
  readonly primaryKey: readonly KvKeyPart[];
}

type KeyClaim = Pick<UniqueKeyClaim, "owner" | "checks">;

/** The checks and writes of a batch of rows, and the rows that an index cannot hold. */
export interface BackfillBatch {
  readonly checks: AtomicCheck[];
  readonly entries: ExpiringEntry[];
  /** Segments of text indexes, for rows that have no entry of their own. */
  readonly segments: readonly FilledSegment[];
  readonly duplicates: Duplicate[];
  readonly unindexed: UnindexedRow[];
}

/**
 * Plans the entries of some rows in new indexes. The entries are made from the rows as they are
 * stored, even if readers see them upgraded to a later schema, because writers remove the entries
 * of the stored row.
 *
 * @param assumesFree if true, no unique key is read. The commit fails if one has an entry.
 */
export async function planBatch(
  context: ModelStore,
  indexes: readonly CompiledIndex[],
  rows: readonly KvEntry<AnyRow>[],
  assumesFree: boolean,
): Promise<BackfillBatch> {
  const { model } = context;
  const batch: BackfillBatch = {
    checks: [],
    entries: [],
    segments: [],
    duplicates: [],
    unindexed: [],
  };
  const ofText: ExpiringEntry[] = [];
  const unique: UniqueEntry[] = [];
  const view = viewOf(context);
  for (const { text } of indexes) await loadStemmer(text?.analyzer.language);
  for (const { key, value: row, versionstamp, expireAt: storedExpireAt } of rows) {
    const primaryKey = key.slice(1);
    if (primaryKey.length !== model.primaryKey.length) continue;
    batch.checks.push({ key, versionstamp });
    const onRefused = noteRefused(model, primaryKey, batch.unindexed);
    const entries = storableEntries(context, indexes, row, primaryKey, onRefused);
    if (entries.length === 0) continue;
    const pendingExpireAt = rowExpireAt(view, {
      primaryKey,
      expireAt: storedTime(storedExpireAt),
    });
    const expireAt = pendingExpireAt instanceof Promise ? await pendingExpireAt : pendingExpireAt;
    for (const entry of entries) {
      const expiring = { entry, expireAt, checks: [] };
      if (entry.index.unique) unique.push({ expiring, primaryKey });
      else (entry.index.text === undefined ? batch.entries : ofText).push(expiring);
    }
  }
  if (unique.length > 0) await planUniqueEntries(context, unique, batch, assumesFree);
  const { segments, others } = await planSegments(context, ofText);
  batch.entries.push(...others);
  return { ...batch, segments };
}

/** Adds the checks and writes of a batch to the operation that commits it. */
export function addBatch(
  { model }: ModelStore,
  operation: AtomicOperation,
  batch: BackfillBatch,
): void {
  for (const check of batch.checks) operation.check(check);
  const now = currentTime();
  for (const { entry, expireAt, checks } of batch.entries) {
    operation.check(...checks);
    const value = storedValue(entry, expireAt);
    operation.set(entry.key, value, expireAt === undefined ? {} : setUntil(expireAt, now));
  }
  addSegments(operation, batch.segments);
  for (const duplicate of batch.duplicates) {
    operation.set(duplicateKey(model, duplicate), duplicate);
  }
}

function storedValue({ index, value }: IndexEntry, expireAt: Time | undefined): unknown {
  return index.text === undefined ? value : freshValue(index.text, value as AnyRow, expireAt);
}

/** Finds out together which of the entries the rows can have. */
async function planUniqueEntries(
  context: ModelStore,
  unique: readonly UniqueEntry[],
  batch: BackfillBatch,
  assumesFree: boolean,
): Promise<void> {
  const claims = assumesFree ? unique.map(freeKey) : await claimKeys(context, unique);
  const taken = new Set<string>();
  for (const [i, { owner, checks }] of claims.entries()) {
    const { expiring, primaryKey } = unique[i]!;
    const { index, key } = expiring.entry;
    const text = keyText(key);
    if (owner === undefined && !taken.has(text)) {
      taken.add(text);
      batch.entries.push({ ...expiring, checks });
    } else {
      const value = key.slice(1);
      batch.duplicates.push({ model: context.model.name, index: index.name, value, primaryKey });
    }
  }
}

function freeKey({ expiring }: UniqueEntry): KeyClaim {
  return { owner: undefined, checks: [{ key: expiring.entry.key, versionstamp: null }] };
}

function claimKeys(context: ModelStore, unique: readonly UniqueEntry[]): Promise<KeyClaim[]> {
  const joined = viewOf(withJoinedReads(context, (keys) => readStored(context, keys)));
  return awaitAll(
    unique.map(({ expiring, primaryKey }) => claimUniqueKey(joined, expiring.entry, primaryKey)),
  );
}

/** Calls `onRefused` for each index that cannot hold the row. It has no entry in the result. */
function storableEntries(
  { model, limits }: ModelStore,
  indexes: readonly CompiledIndex[],
  row: AnyRow,
  primaryKey: KvKey,
  onRefused: OnRefused,
): IndexEntry[] {
  const entries = expectedEntries(model, indexes, row, primaryKey, onRefused);
  const kept = entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
  if (kept.length === entries.length) return entries;
  const refused = entries.filter((entry) => !kept.includes(entry)).map(({ index }) => index);
  onRefused([...new Set(refused)], unstorableKey);
  return kept;
}
