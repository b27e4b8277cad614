import {
  type AtomicCheck,
  type AtomicOperation,
  type KvCommitError,
  type KvCommitResult,
  type KvMutation,
  LimitExceededError,
} from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { isInScope } from "../../context/scope.js";
import type { TableContext, TableLimits } from "../../context/table-context.js";
import { UniqueConstraintError, VersionConflictError } from "../../errors/row-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { isRow } from "../../model/rows/stored-row.js";
import { currentTime, type Time } from "../../model/rows/time.js";
import { tableOfModel } from "../../relations/referrers.js";
import { limitErrorOf } from "../../transaction/limit-error-of.js";
import { pauseBeforeAttempt } from "../../transaction/pause.js";
import { claimUniqueKey, takenError } from "./claim-unique-key.js";
import { countedRowMutations } from "./counted-row-changes.js";
import type { CopyingChange, PlannedChange } from "./plan-change.js";
import { endOf, expiryOptions, hasExpired, recordExpiry } from "./row-expiry.js";
import { settleDuplicates } from "./settle-duplicates.js";
import { settleRegularly } from "./settle-regularly.js";
import { tendRegularly } from "./tend-regularly.js";
import { writableCatalog } from "./writable-catalog.js";

export interface CommittedChange {
  readonly change: PlannedChange;
  /** The versionstamp of the commit. Within a transaction it is provisional. */
  readonly versionstamp: string;
}

/** Unique key → the checks under which a change may take it. Other keys must have no entry. */
type Takeovers = ReadonlyMap<string, readonly AtomicCheck[]>;

const maxAttempts = 100;
/** How many times an operation is built before it is used although its expiry is late. */
const maxTries = 3;
const noTakeovers: Takeovers = new Map();

/**
 * Commits a change: the row and its index entries together, under checks on the row, on each unique
 * key that it takes, and on the catalog entry. If a check fails because of a concurrent write,
 * `plan` is called again with the current catalog. The commit checks the catalog that `plan` got.
 *
 * @throws {UniqueConstraintError} if another row has the primary key or a unique key.
 * @throws {StaleSchemaError} if the database has indexes that this program does not know.
 * @throws {LimitExceededError} if the change is too large for one commit, or a key or value is too
 * large.
 * @throws {VersionConflictError} after 100 attempts.
 */
export async function commitChange(
  context: TableContext,
  plan: (catalog: CatalogSnapshot) => PlannedChange | Promise<PlannedChange>,
): Promise<CommittedChange> {
  let takeovers = noTakeovers;
  const { model } = context;
  for (let attempt = 1; ; attempt++) {
    const catalog = await writableCatalog(context);
    const planned = plan(catalog);
    const change = planned instanceof Promise ? await planned : planned;
    let result: KvCommitResult | KvCommitError;
    const committedAt = performance.now();
    try {
      result = await operationInTime(context, catalog, change, takeovers).commit();
    } catch (error) {
      throw limitErrorOf(error);
    }
    if (result.ok) {
      for (const committed of withCopying({ context, catalog, change })) {
        if (committed.context.transaction === undefined)
          committed.context.catalog.confirm(committed.catalog, committedAt);
        if (needsFinish(committed)) await finishChange(committed);
      }
      return { change, versionstamp: result.versionstamp };
    }
    takeovers = await settleConflict(context, change);
    if (attempt === maxAttempts) {
      const id = pointerOf(change.primaryKey);
      throw new VersionConflictError(model.name, id, attempt);
    }
    await pauseBeforeAttempt(attempt + 1);
  }
}

/** Returns a change and those of all rows that copy fields of its row. */
function withCopying(change: CopyingChange): CopyingChange[] {
  const { copies } = change.change;
  return copies.length === 0 ? [change] : [change, ...copies];
}

/** True if {@link finishChange} has something to do. Most commits wait for nothing. */
function needsFinish({ catalog, change }: CopyingChange): boolean {
  const isCounted = change.countedRow?.counters !== undefined;
  return catalog.hasPendingIndex || isCounted || change.ranked.length > 0;
}

async function finishChange({ context, catalog, change }: CopyingChange): Promise<void> {
  if (catalog.hasPendingIndex) await settleDuplicates(context, change);
  if (change.countedRow?.counters !== undefined) await settleRegularly(context);
  if (change.ranked.length > 0) await tendRegularly(context, change.ranked);
}

/**
 * Builds the operation of a commit that is made at once. It contains the lifetime that is left to
 * the row, and to each row that copies its fields, in whole milliseconds. If a millisecond ends
 * meanwhile, it is built again, because the rows would live a millisecond longer after each such
 * change.
 */
function operationInTime(
  context: TableContext,
  catalog: CatalogSnapshot,
  change: PlannedChange,
  takeovers: Takeovers,
): AtomicOperation {
  const keepsLifetime = withCopying({ context, catalog, change }).some(
    (each) => each.change.expiry?.expireAt !== undefined,
  );
  for (let tries = 1; ; tries++) {
    const now = currentTime();
    const operation = commitOperation(context, catalog, change, takeovers, now);
    if (!keepsLifetime || tries === maxTries) return operation;
    if (currentTime() === now) return operation;
  }
}

/**
 * Builds the operation of a change, with all of its checks.
 *
 * @param now the time from which the lifetime of each row is counted.
 * @throws {LimitExceededError} if the change has more checks or mutations than the limits allow.
 */
export function commitOperation(
  context: TableContext,
  catalog: CatalogSnapshot,
  change: PlannedChange,
  takeovers: Takeovers,
  now: Time,
): AtomicOperation {
  const { kv, limits, transaction } = context;
  const changes = withCopying({ context, catalog, change });
  const checks = changes.flatMap((each, i) => checksOf(each, i === 0 ? takeovers : noTakeovers));
  // A transaction checks the limits for all of its commits together.
  if (transaction === undefined) {
    const mutations = changes.map(({ change: each }) => countMutations(each));
    assertWithin(limits, "checks", checks.length);
    assertWithin(
      limits,
      "mutations",
      mutations.reduce((sum, count) => sum + count, 0),
    );
  }
  const operation = kv.atomic().check(...checks);
  for (const each of changes) addChange(operation, each, now);
  return operation;
}

function checksOf({ context, catalog, change }: CopyingChange, takeovers: Takeovers) {
  const key = rowKey(context.model, change.primaryKey);
  const { versionstamp } = change;
  const checks: AtomicCheck[] = [catalog.check, { key, versionstamp }, ...change.checks];
  for (const entry of change.indexes.added) {
    if (!entry.index.unique) continue;
    const takeover = takeovers.size === 0 ? undefined : takeovers.get(keyText(entry.key));
    if (takeover === undefined) checks.push({ key: entry.key, versionstamp: null });
    else checks.push(...takeover);
  }
  return checks;
}

/** Returns how many keys a change writes, at most. */
function countMutations({
  indexes,
  other,
  expiryKey,
  countedRow,
  mutations,
}: PlannedChange): number {
  const { removed, added, rewritten } = indexes;
  const entries = removed.length + added.length + rewritten.length;
  const others = other.removed.length + other.written.length;
  const records = (expiryKey === undefined ? 0 : 1) + (countedRow === undefined ? 0 : 3);
  return 1 + entries + others + records + mutations.length;
}

function addChange(
  operation: AtomicOperation,
  { context: { model }, change }: CopyingChange,
  now: Time,
): void {
  const { row } = change;
  const { removed, added, rewritten } = change.indexes;
  const key = rowKey(model, change.primaryKey);
  const options = expiryOptions(change.expiry, now);
  for (const entry of removed) operation.delete(entry.key);
  for (const entry of added) operation.set(entry.key, entry.value, options);
  for (const entry of rewritten) operation.set(entry.key, entry.value, options);
  for (const entry of change.other.removed) operation.delete(entry.key);
  for (const entry of change.other.written) operation.set(entry.key, entry.value, options);
  if (row === null) operation.delete(key);
  else operation.set(key, row, options);
  if (change.expiryKey !== undefined) recordExpiry(operation, change.expiryKey, options, now);
  for (const mutation of change.mutations) mutate(operation, mutation);
  if (change.countedRow === undefined) return;
  const until = change.expiry && endOf(change.expiry, now);
  const records = countedRowMutations(model, change.primaryKey, change.countedRow, until);
  for (const mutation of records) mutate(operation, mutation);
}

/** @throws {LimitExceededError} if a commit would exceed a limit. */
export function assertWithin(
  limits: TableLimits,
  name: "checks" | "mutations",
  actual: number,
): void {
  if (actual > limits[name]) throw new LimitExceededError(name, limits[name], actual);
}

/**
 * Adds a mutation by the methods of the operation. They take numbers as bigint, while `mutate`
 * needs the number class of the database.
 */
function mutate(operation: AtomicOperation, mutation: KvMutation): void {
  const { type, key } = mutation;
  if (type === "delete") operation.delete(key);
  else if (type === "set") {
    const { value, expireIn } = mutation;
    operation.set(key, value, expireIn === undefined ? {} : { expireIn });
  } else operation[type](key, mutation.value.value);
}

/** Finds out which check failed. Throws if the change cannot be made. */
async function settleConflict(context: TableContext, change: PlannedChange): Promise<Takeovers> {
  const { kv, model, catalog } = context;
  if (await catalog.reload()) return noTakeovers;
  for (const { model: copying } of context.links.copiedBy)
    await tableOfModel(context.tables, copying).catalog.reload();
  const { versionstamp, value: row } = await kv.get(rowKey(model, change.primaryKey));
  if (versionstamp !== change.versionstamp) {
    if (change.versionstamp !== null) return noTakeovers;
    // An expired row can be replaced. `plan` finds out about it.
    if (await hasExpired(context, catalog.snapshot, change.primaryKey)) return noTakeovers;
    const value = change.primaryKey;
    const ownerId = pointerOf(value);
    const isDeleted = isRow(row) && isMarked(model, row) && isInScope(context, row);
    const conflict = { index: "primaryKey", fields: model.primaryKey, value, ownerId, isDeleted };
    throw new UniqueConstraintError(model.name, conflict);
  }
  const takeovers = new Map<string, readonly AtomicCheck[]>();
  for (const entry of change.indexes.added) {
    if (!entry.index.unique) continue;
    const { index, key } = entry;
    const { owner, checks } = await claimUniqueKey(context, entry, change.primaryKey);
    if (owner !== undefined) {
      const taken = { index, key, owner };
      if (!context.unsettledKeys?.mayTakeFrom(owner)) throw takenError(model, taken);
      context.unsettledKeys.add(taken);
    }
    takeovers.set(keyText(key), checks);
  }
  return takeovers;
}
