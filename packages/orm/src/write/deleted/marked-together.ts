import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { markedIndexName } from "../../model/options/soft-delete.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referencedKey, rowIdOf } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import { namedIndex } from "../../state/schema/named-index.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import { withDeletedRows } from "./purging-context.js";

/** A row that a cascade has marked. */
export interface MarkedRow {
  readonly context: TableContext;
  readonly primaryKey: readonly KvKeyPart[];
}

/** Row → the rows that refer to it and that its deletion deletes too. */
type Referrers = Map<KeyId, MarkedRow[]>;

/** Some rows, with the references by which they are deleted. */
interface Marked {
  readonly referrers: Referrers;
  /** The rows that were marked at the time. */
  readonly ids: Set<KeyId>;
  /** The rows to which they refer. */
  readonly parents: Map<KeyId, MarkedRow>;
  /** Row → the rows to which it refers by any relation. */
  readonly references: Map<KeyId, readonly KeyId[]>;
}

/** How many marked rows are read together. */
const batchSize = 500;

/**
 * Returns the rows that the deletion of a row has marked with it, each after those to which it
 * refers, except in a circle. They have the same time as the row, and lead to it by relations with
 * `onDelete: "cascade"`. Reads only rows with this time, from the indexes of marked rows.
 *
 * @param isContinued true if some of the rows may have been restored already, and the row itself.
 * The others may then refer to the row only through these.
 * @throws {IndexNotReadyError} if `migrate` has not built such an index.
 */
export async function markedTogether(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  time: Date,
  isContinued: boolean,
): Promise<MarkedRow[]> {
  const marked: Marked = {
    ...{ referrers: new Map(), ids: new Set() },
    ...{ parents: new Map(), references: new Map() },
  };
  for (const table of cascadingTables(context)) await addMarked(marked, table, time);
  const { referrers, ids } = marked;
  const rootId = rowIdOf(context.model, primaryKey);
  if (isContinued) await addRestored(marked, rootId);
  const found = new Map<KeyId, MarkedRow>();
  const seen = new Set([rootId]);
  const waiting = [rootId];
  // The loop also visits the ids that it adds.
  for (const id of waiting) {
    for (const row of referrers.get(id) ?? []) {
      const rowId = rowIdOf(row.context.model, row.primaryKey);
      if (seen.has(rowId)) continue;
      seen.add(rowId);
      if (ids.has(rowId)) found.set(rowId, row);
      waiting.push(rowId);
    }
  }
  return referencedFirst(found, marked.references);
}

/** Returns the tables whose rows a deletion of a row may mark. */
function cascadingTables({ tables, links }: TableContext): Set<TableContext> {
  const found = new Set<TableContext>();
  const add = (referencedBy: TableContext["links"]["referencedBy"]) => {
    for (const { model, onDelete } of referencedBy) {
      if (onDelete === "cascade") found.add(tableOfModel(tables, model));
    }
  };
  add(links.referencedBy);
  // The loop also visits the tables that it adds to the set.
  for (const table of found) add(table.links.referencedBy);
  return found;
}

/** Adds the rows of a model that were marked at a time. */
async function addMarked(marked: Marked, context: TableContext, time: Date): Promise<void> {
  const { model, catalog, kv, limits } = context;
  // A model with such a relation has `softDelete` too.
  const index = namedIndex(model, markedIndexName(model.softDelete!));
  await catalog.refresh();
  await catalog.assertReadable(index);
  const add = async (primaryKeys: readonly (readonly KvKeyPart[])[]) => {
    for (const primaryKey of primaryKeys) marked.ids.add(rowIdOf(model, primaryKey));
    await addReferrers(marked, withDeletedRows(context), primaryKeys);
  };
  const options = { batchSize: Math.min(batchSize, limits.batchSize) };
  let keys: (readonly KvKeyPart[])[] = [];
  for await (const { value } of kv.list({ prefix: [index.place, time.getTime()] }, options)) {
    const primaryKey = primaryKeyOfEntry(model, index, value);
    if (primaryKey !== undefined) keys.push(primaryKey);
    if (keys.length < batchSize) continue;
    await add(keys);
    keys = [];
  }
  await add(keys);
}

/** Adds rows that are not marked, and to which marked rows refer, up to the root. */
async function addRestored(marked: Marked, rootId: KeyId): Promise<void> {
  const seen = new Set([rootId]);
  for (;;) {
    const unknown = [...marked.parents].filter(([id]) => !seen.has(id) && !marked.ids.has(id));
    if (unknown.length === 0) return;
    for (const [id] of unknown) seen.add(id);
    for (const table of new Set(unknown.map(([, { context }]) => context))) {
      const ofTable = unknown.filter(([, { context }]) => context === table);
      const keys = ofTable.map(([, { primaryKey }]) => primaryKey);
      await addReferrers(marked, table, keys);
    }
  }
}

/** Adds the references of rows. */
async function addReferrers(
  { referrers, parents, references }: Marked,
  context: TableContext,
  primaryKeys: readonly (readonly KvKeyPart[])[],
): Promise<void> {
  const view = viewOf({ ...context, scope: undefined });
  const entries = await readRows(view, primaryKeys);
  for (const [i, entry] of entries.entries()) {
    const primaryKey = primaryKeys[i]!;
    const found = foundRow(view, primaryKey, entry);
    if (found === undefined) continue;
    references.set(rowIdOf(context.model, primaryKey), referencesOf(context, found.row));
    for (const parent of parentsOf(context, found.row)) {
      const id = rowIdOf(parent.context.model, parent.primaryKey);
      const rows = referrers.get(id) ?? [];
      rows.push({ context, primaryKey });
      referrers.set(id, rows);
      parents.set(id, parent);
    }
  }
}

/** Returns the rows whose deletion deletes a row too. */
function parentsOf({ links, tables }: TableContext, row: AnyRow): MarkedRow[] {
  return [...links.relations.values()].flatMap(({ relation, target }) => {
    if (relation.kind !== "belongsTo" || relation.onDelete !== "cascade") return [];
    const primaryKey = referencedKey(relation.fields, row);
    return primaryKey === undefined ? [] : [{ context: tableOfModel(tables, target), primaryKey }];
  });
}

/** Returns the ids of the rows to which a row refers. */
function referencesOf({ links }: TableContext, row: AnyRow): KeyId[] {
  return [...links.relations.values()].flatMap(({ relation, target }) => {
    if (relation.kind !== "belongsTo") return [];
    const primaryKey = referencedKey(relation.fields, row);
    return primaryKey === undefined ? [] : [rowIdOf(target, primaryKey)];
  });
}

/**
 * Returns rows in an order in which each comes after those to which it refers. Within a circle of
 * references, one of the rows comes first.
 *
 * @param references row → the rows to which it refers. Those that are not in `rows` do not matter.
 */
function referencedFirst<Row>(
  rows: ReadonlyMap<KeyId, Row>,
  references: ReadonlyMap<KeyId, readonly KeyId[]>,
): Row[] {
  const ordered: Row[] = [];
  const begun = new Set<KeyId>();
  for (const first of rows.keys()) {
    // A chain of references may be too long for recursion.
    const stack = [{ id: first, isEnd: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { id, isEnd } = top;
      if (isEnd) ordered.push(rows.get(id) as Row);
      if (isEnd || begun.has(id) || !rows.has(id)) continue;
      begun.add(id);
      stack.push({ id, isEnd: true });
      for (const target of references.get(id) ?? []) stack.push({ id: target, isEnd: false });
    }
  }
  return ordered;
}
