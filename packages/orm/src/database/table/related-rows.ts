import type { AnyQuery } from "../../context/any-query.js";
import { deepCopy } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/linked-relations.js";
import { plansOf } from "../../query/plan/choose-plan.js";
import type { QueryPlan } from "../../query/plan/query-plan.js";
import { includedRelations } from "../../relations/load/include-query.js";
import { loadRelations } from "../../relations/load/load-relations.js";
import { tableOfModel } from "../../relations/referrers.js";
import { copyQuery } from "../repository/copy-query.js";
import { runCall } from "../run-call.js";

/**
 * Reads the related rows of each of some rows, in the order of the rows. All are read together. The
 * rows may have been read some time ago. If a row that one of them refers to has been deleted
 * since, the result is null.
 *
 * @throws {InvalidArgumentError} if there is no such relation, or if it does not accept an option.
 */
export async function readRelatedOf(
  context: TableContext,
  relation: string,
  rows: readonly AnyRow[],
  options: Pick<AnyQuery, "take">,
): Promise<unknown[]> {
  const { kind } = linkOf(context, relation).relation;
  const linkingRows = linkingFields(context, relation, rows);
  const include = { [relation]: copyQuery(options) };
  const isOne = rows.length === 1 && (kind === "belongsTo" || kind === "hasOne");
  const operation = isOne ? "findUnique" : "findMany";
  return await runCall(relatedTable(context, relation), operation, {}, async (meter) => {
    const emptyRows = linkingRows.map(() => ({}));
    const loaded = await loadRelations(context, linkingRows, emptyRows, include, meter, "null");
    return loaded.map((row) => row[relation]);
  });
}

/** Returns the table of the model that a relation leads to. */
export function relatedTable(context: TableContext, relation: string): TableContext {
  return tableOfModel(context.tables, linkOf(context, relation).target);
}

/**
 * Copies the fields that determine the related rows, because the caller may change its rows in the
 * meantime.
 */
export function linkingFields(
  context: TableContext,
  relation: string,
  rows: readonly AnyRow[],
): AnyRow[] {
  const link = linkOf(context, relation).relation;
  const foreign = link.kind === "belongsTo" ? link.fields : [];
  const fields = [...context.model.primaryKey, ...foreign];
  const linkingRows = rows.map((row) =>
    Object.fromEntries(fields.map((field) => [field, row[field]])),
  );
  return deepCopy(linkingRows);
}

/** Returns the plans that read the rows that a `hasMany` relation leads to from a row. */
export function planRelated(
  context: TableContext,
  relation: string,
  row: AnyRow,
  reverse: boolean,
): QueryPlan[] {
  const link = linkOf(context, relation);
  const fields = "fields" in link.relation ? link.relation.fields : [];
  const conditions = context.model.primaryKey.map((field, i) => [fields[i], row[field]]);
  const where = Object.fromEntries(conditions);
  const plans = plansOf(tableOfModel(context.tables, link.target), { where });
  return reverse ? plans.map((plan) => ({ ...plan, reverse: !plan.reverse })) : plans;
}

function linkOf(context: TableContext, relation: string): LinkedRelation {
  const [included] = includedRelations(context, { [relation]: true });
  return included!.link;
}
