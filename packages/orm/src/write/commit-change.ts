import type { AtomicCheck, AtomicOperation, KvKey, KvMutation } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import { UniqueConstraintError, VersionConflictError } from "../errors/row-errors.js";
import type { IndexEntry } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import { pointerOf, rowKey } from "../indexes/primary-key.js";
import type { CompiledModel } from "../model/compiled-model.js";
import type { TableContext } from "../query/table-context.js";
import { pauseBeforeAttempt } from "../transaction/pause.js";
import { claimUniqueKey } from "./claim-unique-key.js";
import type { RowChange } from "./plan-change.js";

/** A change that was committed. */
export interface CommittedChange {
  readonly change: RowChange;
  /** Of the commit; within a transaction a made-up one. */
  readonly versionstamp: string;
}

/** What must hold for a unique key to be taken, where that is not simply that it has no entry. */
interface Takeover {
  readonly key: KvKey;
  readonly checks: readonly AtomicCheck[];
}

const maxAttempts = 100;

/**
 * Commits a change: the row and its index entries together, under checks on the row, on each unique key that it takes,
 * and on the schema epoch. Where one fails because somebody else was faster, `plan` makes the change anew, by
 * the catalog under whose check it is committed.
 *
 * @throws {UniqueConstraintError} where another row has the primary key or a unique key.
 * @throws {StaleSchemaError} where the database has indexes that this program does not know.
 * @throws {VersionConflictError} after a hundred attempts.
 */
export async function commitChange(
  context: TableContext,
  plan: (catalog: CatalogSnapshot) => RowChange | Promise<RowChange>,
): Promise<CommittedChange> {
  let takeovers: readonly Takeover[] = [];
  const { model } = context;
  for (let attempt = 1; ; attempt++) {
    if (model.live && !context.catalog.snapshot.entry.live) await context.catalog.note("live");
    const catalog = context.catalog.snapshot;
    catalog.assertWritable();
    const planned = plan(catalog);
    const change = planned instanceof Promise ? await planned : planned;
    const result = await commitOperation(context, catalog, change, takeovers).commit();
    if (result.ok) return { change, versionstamp: result.versionstamp };
    takeovers = await settleConflict(context, change);
    if (attempt === maxAttempts) {
      const id = pointerOf(change.primaryKey);
      throw new VersionConflictError(model.name, id, attempt);
    }
    await pauseBeforeAttempt(attempt + 1);
  }
}

function commitOperation(
  { kv, model }: TableContext,
  catalog: CatalogSnapshot,
  change: RowChange,
  takeovers: readonly Takeover[],
): AtomicOperation {
  const key = rowKey(model, change.primaryKey);
  const { row, expireIn, versionstamp } = change;
  const { removed, added, rewritten } = change.indexes;
  const options = expiryOptions(expireIn);
  const operation = kv.atomic().check(catalog.check, { key, versionstamp }, ...change.checks);
  for (const entry of removed) operation.delete(entry.key);
  for (const entry of added) {
    if (entry.index.unique) {
      const takeover = takeovers.find((candidate) => isSameKey(candidate.key, entry.key));
      operation.check(...(takeover?.checks ?? [{ key: entry.key, versionstamp: null }]));
    }
    operation.set(entry.key, entry.value, options);
  }
  for (const entry of rewritten) operation.set(entry.key, entry.value, options);
  if (row === null) operation.delete(key);
  else operation.set(key, row, options);
  for (const mutation of change.mutations) mutate(operation, mutation);
  return operation;
}

/** By the methods, which take a number as a bigint: each database has a class of its own for it. */
function mutate(operation: AtomicOperation, mutation: KvMutation): void {
  const { type, key } = mutation;
  if (type === "delete") operation.delete(key);
  else if (type === "set") operation.set(key, mutation.value, expiryOptions(mutation.expireIn));
  else operation[type](key, mutation.value.value);
}

function expiryOptions(expireIn: number | undefined): { expireIn: number } | undefined {
  return expireIn === undefined ? undefined : { expireIn };
}

/** Finds out which check failed: throws where the caller has to know, else says how the next attempt may succeed. */
async function settleConflict(context: TableContext, change: RowChange): Promise<Takeover[]> {
  const { kv, model, catalog } = context;
  if (await catalog.reload()) return [];
  const { versionstamp } = await kv.get(rowKey(model, change.primaryKey));
  if (versionstamp !== change.versionstamp) {
    if (change.versionstamp !== null) return [];
    throw uniqueConstraint(model, primaryKeyConflict(model, change));
  }
  const takeovers: Takeover[] = [];
  for (const entry of change.indexes.added) {
    if (!entry.index.unique) continue;
    const claim = await claimUniqueKey(context, entry, change.primaryKey);
    if (claim.owner !== undefined) {
      throw uniqueConstraint(model, indexConflict(entry, pointerOf(claim.owner)));
    }
    takeovers.push({ key: entry.key, checks: claim.checks });
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
