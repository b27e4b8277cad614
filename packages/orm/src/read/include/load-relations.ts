import type { AnyRow } from "../../model/compiled-model.js";
import type { HasMany, HasOne, ManyToMany } from "../../model/relations/relation-definition.js";
import { awaitAll } from "../../promises/await-all.js";
import type { AnyInclude, AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { referencedKey, rowIdOf } from "../../state/references/referenced-key.js";
import type { KeyId } from "../../state/transaction/buffer/key-id.js";
import { rowFilterOf } from "../find/rows/row-filter.js";
import { resultRows } from "../find/rows/shaped-result.js";
import { countsName, includedRelations } from "./include-query.js";
import { loadBelongsTo } from "./load-belongs-to.js";
import { countedRelations, loadCounts } from "./load-counts.js";
import { type AcceptRows, readRelated } from "./read-related.js";
import type { MissingRow, RelationLoad } from "./relation-load.js";
import { CopyOnReuse, readRowsByKey } from "./rows-by-key.js";

/**
 * Loads relations of many rows together. The rows of a `belongsTo` take one read. Those of a
 * `hasMany` take one range over all of them, or one for each row, and then one read for all of
 * them. The same applies to nested relations. `_count` takes a count for each row and each
 * relation.
 *
 * @param rows whole rows.
 * @param selected the selected fields of each row, in the same order.
 * @param missing with `"null"`, a required row that is missing becomes null, at any depth.
 * @returns for each row a new object with the selected fields and the relations. Loaded rows are
 * not shared between these objects.
 * @throws {InvalidArgumentError} if the `include` is not valid.
 * @throws {ReferenceMissingError} if a required row does not exist, in data written by hand.
 * @throws {VersionConflictError} if a required row was deleted while the relations were read.
 */
export async function loadRelations(
  view: ReadView,
  rows: readonly AnyRow[],
  selected: readonly AnyRow[],
  include: AnyInclude,
  meter: ReadMeter,
  missing: MissingRow = "refused",
): Promise<AnyRow[]> {
  const included = includedRelations(view, include);
  const counted = countedRelations(view, include);
  const loaded: Record<string, unknown>[] = selected.map((row) => ({ ...row }));
  if (rows.length === 0) return loaded;
  const loads = included.map(async ({ link, query }) => {
    const shape = (target: ReadView, found: readonly AnyRow[]) =>
      shapeRows(target, found, query, meter, missing);
    const values = await loadRelation({ view, rows, link, query, meter, missing, shape });
    return { name: link.name, values };
  });
  for (const { name, values } of await awaitAll(loads)) {
    for (const [i, row] of loaded.entries()) row[name] = values[i];
  }
  if (counted.length > 0) {
    const counts = await loadCounts(view, rows, counted, meter);
    for (const [i, row] of loaded.entries()) row[countsName] = counts[i];
  }
  return loaded;
}

async function loadRelation(load: RelationLoad): Promise<readonly unknown[]> {
  const { relation } = load.link;
  if (relation.kind === "belongsTo") return await loadBelongsTo(load, relation);
  if (relation.kind === "manyToMany") return await loadManyToMany(load, relation);
  return await loadHasMany(load, relation);
}

async function shapeRows(
  view: ReadView,
  rows: readonly AnyRow[],
  query: AnyQuery,
  meter: ReadMeter,
  missing: MissingRow,
): Promise<AnyRow[]> {
  const { include } = query;
  const selected = await resultRows(view, rows, query);
  if (include === undefined) return [...selected];
  return await loadRelations(view, rows, selected, include, meter, missing);
}

/** Returns the rows that refer to each row: a list, or for `hasOne` the first one or null. */
async function loadHasMany(
  load: RelationLoad,
  { kind, fields }: HasMany | HasOne,
): Promise<(AnyRow[] | AnyRow | null)[]> {
  const { view, rows, link, query, meter, shape } = load;
  const target = view.of(link.target);
  const take = kind === "hasOne" ? 1 : query.take;
  const queries = { query, fields, values: primaryKeysOf(view, rows), take };
  const filter = rowFilterOf(load.link.target, query.filter);
  const related = await readRelated<AnyRow>(
    target,
    queries,
    (found) => {
      const accepted: (AnyRow | undefined)[] = [];
      for (const { row } of found)
        accepted.push(filter === undefined || filter(row.row) ? row.row : undefined);
      return accepted;
    },
    meter,
  );
  const all: AnyRow[] = [];
  for (const list of related) for (const row of list) all.push(row);
  const shaped = await shape(target, all);
  let next = 0;
  return related.map(({ length }) => {
    const start = next;
    next += length;
    return kind === "hasOne" ? (length === 0 ? null : shaped[start]!) : shaped.slice(start, next);
  });
}

/**
 * Returns for each row the target rows to which rows of a third model, the rows between, lead. They
 * are in the order of the rows between, to which `where` and `orderBy` apply. Each occurs once.
 */
async function loadManyToMany(load: RelationLoad, { from, to }: ManyToMany): Promise<AnyRow[][]> {
  const { view, rows, link, query, meter, shape } = load;
  const target = view.of(link.target);
  const through = view.of(link.through ?? link.target);
  const filter = rowFilterOf(load.link.target, query.filter);
  const { where, orderBy } = query;
  // `take` counts target rows. Rows between may lead to the same row or to none, and then more of
  // them are read.
  const queries = {
    query: { where, ...(orderBy !== undefined && { orderBy }) },
    fields: from,
    values: primaryKeysOf(view, rows),
    take: query.take,
  };
  const targets = new Map<KeyId, AnyRow>();
  const known = new Set<KeyId>();
  const seen = rows.map(() => new Set<KeyId>());
  const accept: AcceptRows<KeyId> = async (found) => {
    const keys = found.map(({ row }) => referencedKey(to, row.row));
    const ids = keys.map((key) => key && rowIdOf(link.target, key));
    const unread = keys.flatMap((key, i) => (key && !known.has(ids[i] ?? "") ? [key] : []));
    const read = await readRowsByKey(target, unread, meter);
    for (const id of ids) if (id !== undefined) known.add(id);
    for (const [id, row] of read) {
      if (filter === undefined || filter(row)) targets.set(id, row);
    }
    return ids.map((id, i) => {
      const seenByQuery = seen[found[i]?.query ?? 0];
      if (id === undefined || seenByQuery === undefined || seenByQuery.has(id)) return undefined;
      seenByQuery.add(id);
      return targets.has(id) ? id : undefined;
    });
  };
  const related = await readRelated(through, queries, accept, meter);
  const wanted = [...new Set(related.flat())];
  const found = wanted.map((id) => targets.get(id)).filter((row) => row !== undefined);
  const shaped = await shape(target, found);
  const copies = new CopyOnReuse(new Map(wanted.map((id, i) => [id, shaped[i]])));
  return related.map((ids) => ids.map((id) => copies.take(id)).filter((row) => row !== undefined));
}

/** Returns the values of the primary key of each row. */
function primaryKeysOf({ model }: ReadView, rows: readonly AnyRow[]): unknown[][] {
  const { primaryKey } = model;
  return rows.map((row) => primaryKey.map((field) => row[field]));
}
