import type { AtomicOperation, KvCommitError, KvCommitResult, KvKeyPart } from "@keywright/core";
import { type Duplicate, duplicateKey, duplicatesPrefix } from "../../catalog/backfill-state.js";
import { withIndexStates } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { type IndexEntry, indexEntries } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { setUntil } from "../../transaction/buffer/set-until.js";
import { claimUniqueKey } from "./claim-unique-key.js";
import { rowExpireAt } from "./row-expiry.js";

/** Commits an operation. A run of a migration does this under its lease. */
export type Commit = (operation: AtomicOperation) => Promise<KvCommitResult | KvCommitError>;

/** The duplicates that are left. */
export interface DuplicatesLeft {
  readonly count: number;
  /** The first duplicates, at most `most`. */
  readonly duplicates: readonly Duplicate[];
}

/** Options for resolving duplicates. */
export interface ResolveOptions {
  readonly commit: Commit;
  /** The maximum number of remaining duplicates that are returned. The others are only counted. */
  readonly maxListed: number;
  /** Called after each duplicate. Resolves to false to stop. */
  readonly shouldContinue: () => Promise<boolean>;
}

/**
 * Checks the rows that could not enter a unique index, and adds those that now can. The index
 * becomes readable if none is left.
 *
 * @returns the duplicates that are left, or `"stopped"` if `between` resolved to false.
 */
export async function resolveDuplicates(
  context: TableContext,
  index: CompiledIndex,
  { commit, maxListed: most, shouldContinue: between }: ResolveOptions,
): Promise<DuplicatesLeft | "stopped"> {
  const duplicates: Duplicate[] = [];
  let count = 0;
  const prefix = duplicatesPrefix(context.model, index.name);
  for await (const { value: duplicate } of context.kv.list<Duplicate>({ prefix })) {
    if (!(await resolveDuplicate(context, index, duplicate, commit))) {
      count++;
      if (duplicates.length < most) duplicates.push(duplicate);
    }
    if (!(await between())) return "stopped";
  }
  if (count === 0) await makeReadable(context, index, commit);
  return { count, duplicates };
}

/**
 * Makes a unique index readable after its last duplicate is gone. Writers record no new duplicates
 * while the index is unique-pending.
 */
export async function makeReadable(
  { kv, catalog }: TableContext,
  index: CompiledIndex,
  commit: Commit,
): Promise<void> {
  while (catalog.snapshot.stateOf(index) === "unique-pending") {
    const { entry, check } = catalog.snapshot;
    const readable = withIndexStates(entry, [index], "readable");
    await commit(kv.atomic().check(check).set(check.key, readable));
    await catalog.reload();
  }
}

/**
 * Checks a recorded duplicate, and deletes the record if it no longer applies: the row is gone, it
 * has another value, or it gets its entry now.
 *
 * @returns false if another row still has its value.
 */
export async function resolveDuplicate(
  context: TableContext,
  index: CompiledIndex,
  duplicate: Duplicate,
  commit: Commit,
): Promise<boolean> {
  const { kv, model, catalog } = context;
  const { primaryKey } = duplicate;
  const recordKey = duplicateKey(model, duplicate);
  for (;;) {
    const { snapshot } = catalog;
    const key = rowKey(model, primaryKey);
    const { value: row, versionstamp, ...rest } = await kv.get<AnyRow>(key);
    const operation = kv.atomic().check(snapshot.check, { key, versionstamp }).delete(recordKey);
    const entries = entriesOf(model, index, row, primaryKey);
    const entry = entries.find((candidate) => isSameKey(candidate.key.slice(1), duplicate.value));
    if (entry !== undefined) {
      const claim = await claimUniqueKey(context, entry, primaryKey);
      if (claim.owner !== undefined) return false;
      const expireAt = "expireAt" in rest ? rest.expireAt : undefined;
      const expiryTime = await rowExpireAt(context, snapshot, { primaryKey, expireAt });
      const options = expiryTime === undefined ? {} : setUntil(expiryTime, Date.now());
      operation.check(...claim.checks).set(entry.key, entry.value, options);
    }
    if ((await commit(operation)).ok) return true;
    await catalog.reload();
    // Another program has resolved all duplicates, or the index is being dropped.
    if (catalog.snapshot.stateOf(index) !== "unique-pending") return true;
  }
}

/**
 * Returns the entries of a row. Empty for a value that is not a row, or that the index cannot hold.
 * Such a value was written by hand.
 */
function entriesOf(
  model: CompiledModel,
  index: CompiledIndex,
  row: AnyRow | null,
  primaryKey: readonly KvKeyPart[],
): IndexEntry[] {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return [];
  try {
    return indexEntries(model, [index], row, primaryKey);
  } catch (error) {
    if (error instanceof IndexKeyError) return [];
    throw error;
  }
}
