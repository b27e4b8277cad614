import { InvalidQueryError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { RelatedRow } from "../../state/context/open-filters.js";
import { readWhole } from "./read-whole.js";
import type { RelatedFilter } from "./related-filter.js";
import type { RelatedRows } from "./related-rows.js";

/** The maximum number of related rows from which a query continues to other rows. */
export const maxMatching = 1000;

/**
 * Returns the related rows that meet a condition.
 *
 * @throws {InvalidQueryError} if there are more than 1,000.
 */
export async function listMatching(
  model: CompiledModel,
  { link, condition }: RelatedFilter,
  related: RelatedRows,
): Promise<readonly RelatedRow[]> {
  return await readWhole(async (onLost) => {
    const rows: RelatedRow[] = [];
    for await (const { primaryKey, row } of related.find(onLost)) {
      rows.push({ primaryKey, row });
      if (rows.length <= maxMatching) continue;
      const reason = `more than ${maxMatching} rows of ${link.target.name} meet it; add a condition to it`;
      throw new InvalidQueryError(model.name, `${link.name}.${condition}`, reason);
    }
    return rows;
  });
}
