import type { AtomicOperation, KvKeyPart } from "@keywright/core";
import { maintainedCounters } from "../../derived/counters/maintained-counters.js";
import { addWrites, type Write } from "../../derived/effects.js";
import type { PlannedChange } from "../../derived/plan-row.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { currentTime } from "../../model/rows/time.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { WriteOptions } from "../input/write-options.js";

/** A change of a stored row that changes nothing else: see `isPlainChange`. */
export interface PlainChange extends Pick<FoundRow, "primaryKey" | "versionstamp"> {
  readonly row: AnyRow;
  readonly effects?: undefined;
}

/** A row whose change is planned, or the error that it has failed with. */
export type PlannedRow = PlannedChange | { readonly error: unknown };

/**
 * True if one operation can commit the changes of several rows: the model has no hooks, the call
 * has no `expireIn` and no transaction, and the database is local and has no limits of checks and
 * mutations.
 */
export function canCommitGroups(context: TableContext, { expireIn }: WriteOptions): boolean {
  const { model, limits, catalog, settings, transaction } = context;
  if (transaction !== undefined || expireIn !== undefined) return false;
  const { isLocal, lastVersionstamp } = catalog.capabilities;
  // A server gets the commits of many rows in one request anyway, and answers each of them.
  if (!isLocal && lastVersionstamp === undefined) return false;
  if (settings.hooks[model.name] !== undefined) return false;
  return (
    limits.checks === Number.POSITIVE_INFINITY && limits.mutations === Number.POSITIVE_INFINITY
  );
}

/** True if a row may refer to another row of the same model. */
export function refersToItself({ model, links }: TableContext): boolean {
  for (const { target } of links.relations.values()) if (target.name === model.name) return true;
  return false;
}

/** True if nothing that the catalog shows needs more than the operation of a group. */
export function isPlainCatalog(snapshot: CatalogSnapshot): boolean {
  const { growing, hasRanks, recordsRows } = maintainedCounters(snapshot);
  if (snapshot.other !== undefined || snapshot.hasPendingIndex) return false;
  return growing === undefined && !hasRanks && !recordsRows;
}

/** Builds the operation of the changes of a group of rows, none of which expires. */
export function groupOperation(
  { kv, model }: TableContext,
  catalog: CatalogSnapshot,
  planned: readonly (PlannedRow | PlainChange)[],
): AtomicOperation {
  const operation = kv.atomic().check(catalog.check);
  const now = currentTime();
  const sums = new Map<string, { key: readonly KvKeyPart[]; by: bigint }>();
  /** The versionstamps of rows to which several rows may refer. */
  const checked = new Map<string, string | null>();
  for (const each of planned) {
    if ("error" in each) continue;
    if (each.effects === undefined) {
      const { primaryKey, versionstamp, row } = each;
      const key = rowKey(model, primaryKey);
      operation.check({ key, versionstamp }).set(key, row);
      continue;
    }
    const { checks, claims, writes } = each.effects;
    operation.check(checks[0]!);
    for (let i = 1; i < checks.length; i++) {
      const { key, versionstamp } = checks[i]!;
      const text = keyText(key);
      if (checked.get(text) === versionstamp) continue;
      checked.set(text, versionstamp);
      operation.check(checks[i]!);
    }
    for (const { key } of claims) operation.check({ key, versionstamp: null });
    // A row that does not expire has no writes that depend on the time.
    const others = (writes as readonly Write[]).filter((write) => {
      if (write.type !== "sum") return true;
      const text = keyText(write.key);
      const before = sums.get(text);
      if (before === undefined) sums.set(text, { key: write.key, by: write.by });
      else before.by = BigInt.asUintN(64, before.by + write.by);
      return false;
    });
    addWrites(operation, others, now);
  }
  for (const { key, by } of sums.values()) operation.sum(key, by);
  return operation;
}
