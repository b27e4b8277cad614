import type { AnyRow } from "../../model/compiled-model.js";
import type { HasMany, HasOne } from "../../model/relations/relation-definition.js";
import { rowFilterOf } from "../../query/read/rows/row-filter.js";
import { tableOfModel } from "../referrers.js";
import { type RelatedQuery, readRelated } from "./read-related.js";
import type { RelationLoad } from "./relation-load.js";

/** Returns the rows that refer to each row: a list, or for `hasOne` the first one or null. */
export async function loadHasMany(
  load: RelationLoad,
  { kind, fields }: HasMany | HasOne,
): Promise<(AnyRow[] | AnyRow | null)[]> {
  const { context, rows, link, query, meter, shape } = load;
  const target = tableOfModel(context.tables, link.target);
  const take = kind === "hasOne" ? 1 : query.take;
  const queries = rows.map((row): RelatedQuery => {
    const conditions = context.model.primaryKey.map((field, i) => [fields[i], row[field]]);
    const where = { ...Object.fromEntries(conditions), ...query.where };
    return { query: { ...query, where }, take };
  });
  const filter = rowFilterOf(load.link.target, query.filter);
  const related = await readRelated<AnyRow>(
    target,
    queries,
    async (found) =>
      found.map(({ row: { row } }) => (filter === undefined || filter(row) ? row : undefined)),
    meter,
  );
  const shaped = await shape(target, related.flat());
  let next = 0;
  return related.map(({ length }) => {
    const list = shaped.slice(next, next + length);
    next += length;
    return kind === "hasOne" ? (list[0] ?? null) : list;
  });
}
