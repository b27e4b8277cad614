import type { AtomicOperation, KvCommitError, KvCommitResult, KvKeyPart } from "@keywright/core";
import { type Duplicate, duplicateKey, duplicatesPrefix } from "../../catalog/backfill-state.js";
import { withIndexStates } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { IndexKeyError } from "../../errors/row-errors.js";
import { type IndexEntry, indexEntries } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { setUntil } from "../../transaction/set-until.js";
import { claimUniqueKey } from "./claim-unique-key.js";
import { rowExpireAt } from "./row-expiry.js";

/** Makes a commit: a run of a migration makes it under its lease. */
export type Commit = (operation: AtomicOperation) => Promise<KvCommitResult | KvCommitError>;

/** Duplicates that are left. */
export interface DuplicatesLeft {
  readonly count: number;
  /** The first of them. */
  readonly duplicates: readonly Duplicate[];
}

/** How duplicates are gone through. */
export interface ResolveOptions {
  readonly commit: Commit;
  /** So many of those that are left are told of. */
  readonly most: number;
  /** Called behind each duplicate; what it returns says whether to go on. */
  readonly between: () => Promise<boolean>;
}

/**
 * Goes through the rows that could not enter a unique index, and takes in those that now can. The index goes readable
 * when none is left.
 *
 * @returns those that are left, or `"stopped"` where `between` said so.
 */
export async function resolveDuplicates(
  context: TableContext,
  index: CompiledIndex,
  { commit, most, between }: ResolveOptions,
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
 * Makes a unique index readable whose last duplicate is gone: nobody writes one down while it waits for that.
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
 * Looks at a duplicate that was written down, and takes it away where it is one no longer: its row is gone, has another
 * value, or gets its entry now.
 *
 * @returns false where another row still has its value.
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
      const goesAt = await rowExpireAt(context, snapshot, { primaryKey, expireAt });
      const options = goesAt === undefined ? {} : setUntil(goesAt, Date.now());
      operation.check(...claim.checks).set(entry.key, entry.value, options);
    }
    if ((await commit(operation)).ok) return true;
    await catalog.reload();
    // Somebody else has seen to all of them, or the index goes.
    if (catalog.snapshot.stateOf(index) !== "unique-pending") return true;
  }
}

/** The entries of a row. One that is none, or that the index cannot hold, has none: somebody wrote it by hand. */
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
