import type { AnyRow } from "../../model/compiled-model.js";
import type { ManyToMany } from "../../model/relations/relation-definition.js";
import { rowFilterOf } from "../../query/read/rows/row-filter.js";
import type { KeyId } from "../../transaction/buffer/key-id.js";
import { referencedKey, rowIdOf } from "../referenced-key.js";
import { tableOfModel } from "../referrers.js";
import { type AcceptRows, type RelatedQuery, readRelated } from "./read-related.js";
import type { RelationLoad } from "./relation-load.js";
import { CopyOnReuse, readRowsByKey } from "./rows-by-key.js";

/**
 * Returns for each row the target rows to which rows of a third model, the rows between, lead. They
 * are in the order of the rows between, to which `where` and `orderBy` apply. Each occurs once.
 */
export async function loadManyToMany(
  load: RelationLoad,
  { from, to }: ManyToMany,
): Promise<AnyRow[][]> {
  const { context, rows, link, query, meter, shape } = load;
  const target = tableOfModel(context.tables, link.target);
  const through = tableOfModel(context.tables, link.through ?? link.target);
  const filter = rowFilterOf(load.link.target, query.filter);
  const queries = rows.map((row): RelatedQuery => {
    const conditions = context.model.primaryKey.map((field, i) => [from[i], row[field]]);
    // `take` counts target rows. Rows between may lead to the same row or to none, and then more of
    // them are read.
    const where = { ...Object.fromEntries(conditions), ...query.where };
    const { orderBy } = query;
    return { query: { where, ...(orderBy !== undefined && { orderBy }) }, take: query.take };
  });
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
