import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import { deepCopy } from "../../model/copy-of-data.js";
import { besideCatalogs } from "../../context/beside-catalogs.js";
import type { TableContext } from "../../context/table-context.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/linked-relations.js";
import { primaryKeyIn } from "../../query/plan/plan-unique.js";
import { foundRow } from "../../query/read/found-row.js";
import { resultRow } from "../../query/read/result-row.js";
import { readRows } from "../../query/read/read-rows.js";
import { includedRelations } from "../../relations/load/include-query.js";
import { includedModels } from "../../relations/load/included-models.js";
import { loadRelations } from "../../relations/load/load-relations.js";
import { tableOfModel } from "../../relations/referrers.js";
import type { Calls } from "../calls.js";
import { copyQuery } from "../repository/copy-query.js";
import { RowOperations } from "../repository/row-operations.js";
import type { RowQuery } from "../repository/row-query.js";
import type { ShapedRow } from "../repository/shape-rows.js";

type ReadRelated = Pick<AnyQuery, "take">;

/**
 * The methods that a generated repository calls: those of every repository, and some that it alone
 * needs. `Rows` describes them with their types.
 */
export class GeneratedRows extends RowOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    super(calls);
    this.#calls = calls;
  }

  findEach(primaryKeys: readonly AnyRow[]): Promise<ShapedRow[]> {
    const wheres = deepCopy(primaryKeys);
    return this.#calls.read("findMany", {}, async (context, _, meter) => {
      const keys = wheres.map((where) => primaryKeyIn(context.model, where));
      meter.index = "primaryKey";
      meter.add(keys.length);
      const entries = await readRows(context, keys);
      const found = entries.map((entry, i) => foundRow(context, keys[i]!, entry));
      const result = async (each: FoundRow | undefined) =>
        each === undefined ? null : await resultRow(context, each.row);
      return await Promise.all(found.map(result));
    });
  }

  async loadRelated(relation: string, row: object, options?: ReadRelated): Promise<ShapedRow> {
    return (await this.loadRelatedOfEach(relation, [row], options))[0];
  }

  async loadRelatedOfEach(
    relation: string,
    rows: readonly object[],
    options: ReadRelated = {},
  ): Promise<ShapedRow[]> {
    const { context } = this.#calls;
    const link = linkOf(context, relation);
    const { kind } = link.relation;
    const linkingRows = linkingFields(link, context, rows as readonly AnyRow[]);
    const include = { [relation]: copyQuery(options) };
    const isOne = rows.length === 1 && (kind === "belongsTo" || kind === "hasOne");
    const operation = isOne ? "findUnique" : "findMany";
    const target = this.#calls.of(tableOfModel(context.tables, link.target));
    return await target.read(operation, {}, async (_, __, meter) => {
      const emptyRows = linkingRows.map(() => ({}));
      const models = includedModels(context, include);
      const loaded = await besideCatalogs(context, models, (within) =>
        loadRelations(within, linkingRows, emptyRows, include, meter, "null"),
      );
      return loaded.map((row) => row[relation]);
    });
  }

  listRelated(relation: string, row: object, options?: AnyQuery): RowQuery<ShapedRow> {
    const { context } = this.#calls;
    const link = linkOf(context, relation);
    const fields = "fields" in link.relation ? link.relation.fields : [];
    const [linking] = linkingFields(link, context, [row as AnyRow]);
    const conditions = context.model.primaryKey.map((field, i) => [fields[i], linking![field]]);
    const target = new GeneratedRows(this.#calls.of(tableOfModel(context.tables, link.target)));
    return target.findMany({ ...options, where: Object.fromEntries(conditions) });
  }
}

function linkOf(context: TableContext, relation: string): LinkedRelation {
  const [included] = includedRelations(context, { [relation]: true });
  return included!.link;
}

/**
 * Copies the fields that determine the related rows, because the caller may change its rows in the
 * meantime.
 */
function linkingFields(
  { relation }: LinkedRelation,
  { model }: TableContext,
  rows: readonly AnyRow[],
): AnyRow[] {
  const foreign = relation.kind === "belongsTo" ? relation.fields : [];
  const fields = [...model.primaryKey, ...foreign];
  return deepCopy(
    rows.map((row) =>
      Object.fromEntries(fields.map((field) => [field, refusedIfCondition(row[field])])),
    ),
  );
}

/**
 * Returns the value of a field that determines related rows. A row that was not read from the
 * database may have a condition in its place, such as `{ gte: "" }`, which would find rows of
 * others. It becomes a condition that is always refused.
 */
function refusedIfCondition(value: unknown): unknown {
  const isValue = typeof value !== "object" || value === null || keyPartOf(value) !== undefined;
  return isValue ? value : { in: [value] };
}
