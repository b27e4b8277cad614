import type { AnyQuery } from "../../context/any-query.js";
import { copyOfGiven } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/linked-relations.js";
import { plansOf } from "../../query/plan/choose-plan.js";
import type { QueryPlan } from "../../query/plan/query-plan.js";
import { includedRelations } from "../../relations/load/include-query.js";
import { loadRelations } from "../../relations/load/load-relations.js";
import { tableOfModel } from "../../relations/referrers.js";
import { givenQuery } from "../repository/given-query.js";
import { runCall } from "../run-call.js";

/**
 * What a relation leads to from each of some rows, in their order, read together. The rows were read some time ago: a row
 * that one of them refers to and that has gone since is null.
 *
 * @throws {InvalidArgumentError} for a name that is no relation's, and for options that it does not take.
 */
export async function readRelatedOf(
  context: TableContext,
  relation: string,
  rows: readonly AnyRow[],
  options: Pick<AnyQuery, "take">,
): Promise<unknown[]> {
  const { kind } = linkOf(context, relation).relation;
  const own = linkingFields(context, relation, rows);
  const include = { [relation]: givenQuery(options) };
  const isOne = rows.length === 1 && (kind === "belongsTo" || kind === "hasOne");
  const operation = isOne ? "findUnique" : "findMany";
  return await runCall(relatedTable(context, relation), operation, {}, async (meter) => {
    const nothing = own.map(() => ({}));
    const loaded = await loadRelations(context, own, nothing, include, meter, "null");
    return loaded.map((row) => row[relation]);
  });
}

/** The table that a relation leads to. */
export function relatedTable(context: TableContext, relation: string): TableContext {
  return tableOfModel(context.tables, linkOf(context, relation).target);
}

/** The fields of rows that tell what a relation leads to, as they are now: the caller may change the rows right away. */
export function linkingFields(
  context: TableContext,
  relation: string,
  rows: readonly AnyRow[],
): AnyRow[] {
  const link = linkOf(context, relation).relation;
  const foreign = link.kind === "belongsTo" ? link.fields : [];
  const fields = [...context.model.primaryKey, ...foreign];
  const given = rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])));
  return copyOfGiven(given);
}

/** The plans of the rows that a `hasMany` relation leads to from a row. */
export function planRelated(
  context: TableContext,
  relation: string,
  row: AnyRow,
  reverse: boolean,
): QueryPlan[] {
  const link = linkOf(context, relation);
  const fields = "fields" in link.relation ? link.relation.fields : [];
  const own = context.model.primaryKey.map((field, i) => [fields[i], row[field]]);
  const where = Object.fromEntries(own);
  const plans = plansOf(tableOfModel(context.tables, link.target), { where });
  return reverse ? plans.map((plan) => ({ ...plan, reverse: !plan.reverse })) : plans;
}

function linkOf(context: TableContext, relation: string): LinkedRelation {
  const [included] = includedRelations(context, { [relation]: true });
  return included!.link;
}
