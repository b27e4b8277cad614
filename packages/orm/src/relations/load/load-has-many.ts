import type { AnyRow } from "../../model/compiled-model.js";
import type { HasMany, HasOne } from "../../model/relation-definition.js";
import { rowFilterOf } from "../../query/read/row-filter.js";
import { tableOfModel } from "../referrers.js";
import { type RelatedQuery, readRelated } from "./read-related.js";
import type { RelationLoad } from "./relation-load.js";

/** The rows that refer to each row: a list for each, or of a `hasOne` the first, null where there is none. */
export async function loadHasMany(
  load: RelationLoad,
  { kind, fields }: HasMany | HasOne,
): Promise<(AnyRow[] | AnyRow | null)[]> {
  const { context, rows, link, query, meter, shape } = load;
  const target = tableOfModel(context.tables, link.target);
  const take = kind === "hasOne" ? 1 : query.take;
  const queries = rows.map((row): RelatedQuery => {
    const own = context.model.primaryKey.map((field, i) => [fields[i], row[field]]);
    const where = { ...Object.fromEntries(own), ...query.where };
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
    const own = shaped.slice(next, next + length);
    next += length;
    return kind === "hasOne" ? (own[0] ?? null) : own;
  });
}
