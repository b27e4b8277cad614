import { setTimeout as sleep } from "node:timers/promises";
import type { AtomicCheck, KvKey, KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import { UniqueConstraintError, VersionConflictError } from "../errors/row-errors.js";
import type { IndexChanges } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import { pointerOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import type { TableContext } from "../query/table-context.js";
import { claimUniqueKey } from "./claim-unique-key.js";

/** A change of one row with all that goes with it. */
export interface RowChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row that the change was made for, null where there was none. */
  readonly versionstamp: string | null;
  /** The row as it is to be, null where it is to go. */
  readonly row: AnyRow | null;
  readonly indexes: IndexChanges;
  /** What else has to hold: how the unique entries were that decided what becomes of them. */
  readonly checks: readonly AtomicCheck[];
}

/** What must hold for a unique key to be taken, where that is not simply that it has no entry. */
interface Takeover {
  readonly key: KvKey;
  readonly checks: readonly AtomicCheck[];
}

const maxAttempts = 100;
const attemptsWithoutPause = 3;
const longestPause = 50;

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
  plan: (catalog: CatalogSnapshot) => Promise<RowChange>,
): Promise<void> {
  let takeovers: readonly Takeover[] = [];
  for (let attempt = 1; ; attempt++) {
    const catalog = context.catalog.snapshot;
    catalog.assertWritable();
    const change = await plan(catalog);
    if (await tryCommit(context, catalog, change, takeovers)) return;
    takeovers = await settleConflict(context, change);
    if (attempt === maxAttempts) {
      const id = pointerOf(change.primaryKey);
      throw new VersionConflictError(context.model.name, id, attempt);
    }
    if (attempt > attemptsWithoutPause) {
      const longest = Math.min(2 ** (attempt - attemptsWithoutPause), longestPause);
      await sleep(Math.random() * longest);
    }
  }
}

async function tryCommit(
  { kv, model }: TableContext,
  catalog: CatalogSnapshot,
  change: RowChange,
  takeovers: readonly Takeover[],
): Promise<boolean> {
  const key = rowKey(model, change.primaryKey);
  const operation = kv
    .atomic()
    .check(catalog.check, { key, versionstamp: change.versionstamp }, ...change.checks);
  for (const entry of change.indexes.removed) operation.delete(entry.key);
  for (const entry of change.indexes.added) {
    if (entry.index.unique) {
      const takeover = takeovers.find((candidate) => isSameKey(candidate.key, entry.key));
      operation.check(...(takeover?.checks ?? [{ key: entry.key, versionstamp: null }]));
    }
    operation.set(entry.key, entry.value);
  }
  for (const entry of change.indexes.rewritten) operation.set(entry.key, entry.value);
  if (change.row === null) operation.delete(key);
  else operation.set(key, change.row);
  return (await operation.commit()).ok;
}

/** Finds out which check failed: throws where the caller has to know, else says how the next attempt may succeed. */
async function settleConflict(context: TableContext, change: RowChange): Promise<Takeover[]> {
  const { kv, model, catalog } = context;
  if (await catalog.reload()) return [];
  if (change.versionstamp === null) {
    const { versionstamp } = await kv.get(rowKey(model, change.primaryKey));
    if (versionstamp !== null) throw uniqueConstraint(model, primaryKeyConflict(model, change));
  }
  const takeovers: Takeover[] = [];
  for (const entry of change.indexes.added) {
    if (!entry.index.unique) continue;
    const claim = await claimUniqueKey(context, entry, change.primaryKey);
    if (claim.owner !== undefined) {
      const { name: index, fields } = entry.index;
      const value = entry.key.slice(1);
      throw uniqueConstraint(model, {
        index,
        fields,
        value,
        ownerId: pointerOf(claim.owner),
      });
    }
    takeovers.push({ key: entry.key, checks: claim.checks });
  }
  return takeovers;
}

type Conflict = ConstructorParameters<typeof UniqueConstraintError>[1];

function uniqueConstraint(model: CompiledModel, conflict: Conflict): UniqueConstraintError {
  return new UniqueConstraintError(model.name, conflict);
}

function primaryKeyConflict(model: CompiledModel, { primaryKey }: RowChange): Conflict {
  const ownerId = pointerOf(primaryKey);
  return {
    index: "primaryKey",
    fields: model.primaryKey,
    value: primaryKey,
    ownerId,
  };
}
