import type {
  AtomicCheck,
  AtomicOperation,
  KvCommitError,
  KvCommitResult,
  KvMutation,
} from "@keywright/core";
import { LimitExceededError } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { TableContext, TableLimits } from "../../context/table-context.js";
import { UniqueConstraintError, VersionConflictError } from "../../errors/row-errors.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import { keyText } from "../../indexes/key-text.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { limitErrorOf } from "../../transaction/limit-error-of.js";
import { pauseBeforeAttempt } from "../../transaction/pause.js";
import { claimUniqueKey } from "./claim-unique-key.js";
import type { RowChange } from "./plan-change.js";
import { expiryOptions, hasExpired, recordExpiry } from "./row-expiry.js";
import { settleDuplicates } from "./settle-duplicates.js";

/** A change that was committed. */
export interface CommittedChange {
  readonly change: RowChange;
  /** Of the commit; within a transaction a made-up one. */
  readonly versionstamp: string;
}

/** What must hold for unique keys to be taken, by the keys' texts, where that is not simply that they have no entries. */
type Takeovers = ReadonlyMap<string, readonly AtomicCheck[]>;

const maxAttempts = 100;
/** So often an operation is made before it is taken as late as it is. */
const mostTries = 3;
const none: Takeovers = new Map();

/**
 * Commits a change: the row and its index entries together, under checks on the row, on each unique key that it takes,
 * and on the schema epoch. Where one fails because somebody else was faster, `plan` makes the change anew, by
 * the catalog under whose check it is committed.
 *
 * @throws {UniqueConstraintError} where another row has the primary key or a unique key.
 * @throws {StaleSchemaError} where the database has indexes that this program does not know.
 * @throws {LimitExceededError} where one commit of the database does not take it, or a key or a value is too large.
 * @throws {VersionConflictError} after a hundred attempts.
 */
export async function commitChange(
  context: TableContext,
  plan: (catalog: CatalogSnapshot) => RowChange | Promise<RowChange>,
): Promise<CommittedChange> {
  let takeovers: Takeovers = none;
  const { model } = context;
  for (let attempt = 1; ; attempt++) {
    if (model.live && !context.catalog.snapshot.entry.live) await context.catalog.note("live");
    // The database may have been migrated since.
    if (!context.catalog.snapshot.isWritable) await context.catalog.reload();
    if (context.catalog.snapshot.isUnknown) await context.catalog.makeKnown();
    const catalog = context.catalog.snapshot;
    catalog.assertWritable();
    const planned = plan(catalog);
    const change = planned instanceof Promise ? await planned : planned;
    let result: KvCommitResult | KvCommitError;
    try {
      result = await operationInTime(context, catalog, change, takeovers).commit();
    } catch (error) {
      throw limitErrorOf(error);
    }
    if (result.ok) {
      if (catalog.hasPendingIndex) await settleDuplicates(context, change);
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

/**
 * The operation of a commit that is made at once. What is left of a row's time is told in whole milliseconds, from the
 * commit on: where one ends while the operation is made, the row would gain it, with each of its changes.
 *
 * @throws {LimitExceededError} for more checks or changes than the database takes at once.
 */
function operationInTime(
  context: TableContext,
  catalog: CatalogSnapshot,
  change: RowChange,
  takeovers: Takeovers,
): AtomicOperation {
  for (let tries = 1; ; tries++) {
    const now = change.expiry === undefined ? 0 : Date.now();
    const operation = commitOperation(context, catalog, change, takeovers, now);
    if (change.expiry?.expireAt === undefined || tries === mostTries) return operation;
    if (Date.now() === now) return operation;
  }
}

/**
 * The operation that makes a change, under all of its checks.
 *
 * @param takeovers for each unique key that the change takes: what must hold for that; without it, that it has no entry.
 * @param now the time from which on it is counted how long a row that expires has left, in milliseconds since 1970.
 * @throws {LimitExceededError} for more checks or changes than the context's limits allow.
 */
export function commitOperation(
  { kv, model, limits, transaction }: TableContext,
  catalog: CatalogSnapshot,
  change: RowChange,
  takeovers: Takeovers,
  now: number,
): AtomicOperation {
  const key = rowKey(model, change.primaryKey);
  const { row, versionstamp } = change;
  const { removed, added, rewritten } = change.indexes;
  const options = expiryOptions(change.expiry, now);
  const checks: AtomicCheck[] = [catalog.check, { key, versionstamp }, ...change.checks];
  for (const entry of added) {
    if (!entry.index.unique) continue;
    const taken = takeovers.size === 0 ? undefined : takeovers.get(keyText(entry.key));
    if (taken === undefined) checks.push({ key: entry.key, versionstamp: null });
    else checks.push(...taken);
  }
  // A transaction looks at all of its commits together.
  if (transaction === undefined) {
    const own = change.expiryKey === undefined ? 1 : 2;
    const entries = removed.length + added.length + rewritten.length;
    assertWithin(limits, "checks", checks.length);
    assertWithin(limits, "mutations", own + entries + change.mutations.length);
  }
  const operation = kv.atomic().check(...checks);
  for (const entry of removed) operation.delete(entry.key);
  for (const entry of added) operation.set(entry.key, entry.value, options);
  for (const entry of rewritten) operation.set(entry.key, entry.value, options);
  if (row === null) operation.delete(key);
  else operation.set(key, row, options);
  if (change.expiryKey !== undefined) recordExpiry(operation, change.expiryKey, options, now);
  for (const mutation of change.mutations) mutate(operation, mutation);
  return operation;
}

function assertWithin(limits: TableLimits, name: "checks" | "mutations", actual: number): void {
  if (actual > limits[name]) throw new LimitExceededError(name, limits[name], actual);
}

/** By the methods, which take a number as a bigint: each database has a class of its own for it. */
function mutate(operation: AtomicOperation, mutation: KvMutation): void {
  const { type, key } = mutation;
  if (type === "delete") operation.delete(key);
  else if (type === "set") {
    const { value, expireIn } = mutation;
    operation.set(key, value, expireIn === undefined ? {} : { expireIn });
  } else operation[type](key, mutation.value.value);
}

/** Finds out which check failed: throws where the caller has to know, else says how the next attempt may succeed. */
async function settleConflict(context: TableContext, change: RowChange): Promise<Takeovers> {
  const { kv, model, catalog } = context;
  if (await catalog.reload()) return none;
  const { versionstamp } = await kv.get(rowKey(model, change.primaryKey));
  if (versionstamp !== change.versionstamp) {
    if (change.versionstamp !== null) return none;
    // It can be replaced, which `plan` finds out.
    if (await hasExpired(context, catalog.snapshot, change.primaryKey)) return none;
    throw uniqueConstraint(model, primaryKeyConflict(model, change));
  }
  const takeovers = new Map<string, readonly AtomicCheck[]>();
  for (const entry of change.indexes.added) {
    if (!entry.index.unique) continue;
    const claim = await claimUniqueKey(context, entry, change.primaryKey);
    if (claim.owner !== undefined) {
      throw uniqueConstraint(model, indexConflict(entry, pointerOf(claim.owner)));
    }
    takeovers.set(keyText(entry.key), claim.checks);
  }
  return takeovers;
}

type Conflict = ConstructorParameters<typeof UniqueConstraintError>[1];

function uniqueConstraint(model: CompiledModel, conflict: Conflict): UniqueConstraintError {
  return new UniqueConstraintError(model.name, conflict);
}

function indexConflict({ index, key }: IndexEntry, ownerId: Conflict["ownerId"]): Conflict {
  return { index: index.name, fields: index.fields, value: key.slice(1), ownerId };
}

function primaryKeyConflict(model: CompiledModel, { primaryKey }: RowChange): Conflict {
  return {
    index: "primaryKey",
    fields: model.primaryKey,
    value: primaryKey,
    ownerId: pointerOf(primaryKey),
  };
}
