import type { AnyInclude, AnyQuery } from "../../context/any-query.js";
import { awaitAll } from "../../context/await-all.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { resultRows } from "../../query/read/rows/result-row.js";
import { countsName, includedRelations } from "./include-query.js";
import { loadBelongsTo } from "./load-belongs-to.js";
import { countedRelations, loadCounts } from "./load-counts.js";
import { loadHasMany } from "./load-has-many.js";
import { loadManyToMany } from "./load-many-to-many.js";
import type { MissingRow, RelationLoad } from "./relation-load.js";

/**
 * Loads relations of many rows together. The rows of a `belongsTo` take one read. Those of a
 * `hasMany` take one range for each row, and then one read for all of them. The same applies to
 * nested relations. `_count` takes a count for each row and each relation.
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
  context: TableContext,
  rows: readonly AnyRow[],
  selected: readonly AnyRow[],
  include: AnyInclude,
  meter: ReadMeter,
  missing: MissingRow = "refused",
): Promise<AnyRow[]> {
  const included = includedRelations(context, include);
  const counted = countedRelations(context, include);
  await context.catalog.assertSameKey();
  const loaded: Record<string, unknown>[] = selected.map((row) => ({ ...row }));
  if (rows.length === 0) return loaded;
  const loads = included.map(async ({ link, query }) => {
    const shape = (target: TableContext, found: readonly AnyRow[]) =>
      shapeRows(target, found, query, meter, missing);
    const values = await loadRelation({ context, rows, link, query, meter, missing, shape });
    return { name: link.name, values };
  });
  for (const { name, values } of await awaitAll(loads)) {
    for (const [i, row] of loaded.entries()) row[name] = values[i];
  }
  if (counted.length > 0) {
    const counts = await loadCounts(context, rows, counted, meter);
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
  context: TableContext,
  rows: readonly AnyRow[],
  query: AnyQuery,
  meter: ReadMeter,
  missing: MissingRow,
): Promise<AnyRow[]> {
  const { include } = query;
  const selected = await resultRows(context, rows, query);
  if (include === undefined) return [...selected];
  return await loadRelations(context, rows, selected, include, meter, missing);
}
