import { withReadView } from "../../state/context/read-view.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import { deepCopy } from "../../model/rows/copy-of-data.js";
import { scopedUnique } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import { choosePlan } from "../../read/plan/choose-plan.js";
import { primaryKeyIn } from "../../read/plan/plan-unique.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import { includedRelations } from "../../read/include/include-query.js";
import { includedModels } from "../../read/include/included-models.js";
import { loadRelations } from "../../read/include/load-relations.js";
import { tableOfModel } from "../../state/references/referrers.js";
import type { RowShape } from "../call-options.js";
import { Calls } from "../calls.js";
import { copyQuery, refuseRelated } from "../parse-options.js";
import { RowOperations } from "../repository/row-operations.js";
import { type RowQuery, queryReads } from "../repository/row-reads.js";
import { type ShapedRow, shapeRows } from "../repository/results/shape-rows.js";
import { ListQuery } from "./list-query.js";

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

  /**
   * Returns a repository whose methods return something else of a row, or only rows that meet
   * conditions on related rows. Selections replace each other. Relations and conditions are added
   * to those that there are already.
   */
  view(Repository: unknown, input: { readonly [Option in keyof RowShape]?: unknown }): ShapedRow {
    const { context, kind, shape = {} } = this.#calls;
    // The caller may change the objects that it has passed. The calls refuse what is not valid.
    const { whereRelated, ...options } = deepCopy(input) as RowShape;
    const calls = new Calls(context, kind, {
      ...shape,
      ...options,
      ...(options.include && { include: { ...shape.include, ...options.include } }),
      ...(Object.hasOwn(input, "whereRelated") && {
        whereRelated: [...(shape.whereRelated ?? []), whereRelated],
      }),
    });
    return new (Repository as new (rows: GeneratedRows) => unknown)(new GeneratedRows(calls));
  }

  override findMany(input: AnyQuery): ListQuery<ShapedRow> {
    const query = copyQuery(input);
    const { page, stream } = queryReads(this.#calls, "findMany", query, choosePlan);
    return new ListQuery<ShapedRow>({
      page,
      stream,
      findFirst: () => this.#first(query, false),
      findFirstOrThrow: () => this.#first(query, true),
      explain: () => this.explain(query),
    });
  }

  override scan(query: AnyQuery = {}): RowQuery<ShapedRow> {
    const isRestricted = this.#calls.shape?.whereRelated !== undefined;
    // A list by the primary key finds all rows too, and takes conditions on related rows.
    return isRestricted ? this.findMany({ ...query, where: {} }) : super.scan(query ?? {});
  }

  findVersioned(query: AnyQuery): Promise<ShapedRow> {
    return this.findUnique({ ...query, withVersionstamp: true });
  }

  findEach(primaryKeys: readonly unknown[], query: AnyQuery = {}): Promise<ShapedRow[]> {
    const { primaryKey } = this.#calls.context.model;
    const wheres = deepCopy(primaryKeys).map((key) => {
      const values = primaryKey.length === 1 ? [key] : (key as readonly unknown[]);
      return Object.fromEntries(primaryKey.map((field, i) => [field, values[i]]));
    });
    return this.#calls.read(
      "findMany",
      query ?? {},
      async (view, options, meter) => {
        const { model } = view;
        if (options.whereRelated !== undefined) refuseRelated(model.name, "findEach");
        const keyOf = (where: AnyRow) => primaryKeyIn(model, scopedUnique(view, where));
        const keys = wheres.map(keyOf);
        meter.index = "primaryKey";
        meter.add(keys.length);
        const entries = await readRows(view, keys);
        const found = entries.map((entry, i) => foundRow(view, keys[i]!, entry));
        const present = found.filter((row) => row !== undefined);
        const shaped = (await shapeRows(view, present, options, meter)).values();
        return found.map((row) => (row === undefined ? null : shaped.next().value));
      },
    );
  }

  /** Returns the first row of a list. With `skip`, which only lists have, it is read as a list. */
  async #first({ take: _, ...query }: AnyQuery, isRequired: boolean): Promise<ShapedRow> {
    if (!query.skip) return await (isRequired ? this.findFirstOrThrow(query) : this.findFirst(query));
    const { items } = await this.findMany({ ...query, take: 1 });
    if (items.length > 0) return items[0];
    if (isRequired) throw new RowNotFoundError(this.#calls.context.model.name, query.where);
    return null;
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
    const target = new Calls(tableOfModel(context.tables, link.target));
    return await target.read(operation, {}, async (_, __, meter) => {
      const emptyRows = linkingRows.map(() => ({}));
      const models = includedModels(context, include);
      const loaded = await withReadView(context, models, (view) =>
        loadRelations(view, linkingRows, emptyRows, include, meter, "null"),
      );
      return loaded.map((row) => row[relation]);
    });
  }

  listRelated(relation: string, row: object, options?: AnyQuery): ListQuery<ShapedRow> {
    const { context } = this.#calls;
    const link = linkOf(context, relation);
    const fields = "fields" in link.relation ? link.relation.fields : [];
    const [linking] = linkingFields(link, context, [row as AnyRow]);
    const conditions = context.model.primaryKey.map((field, i) => [fields[i], linking![field]]);
    const calls = new Calls(tableOfModel(context.tables, link.target), "related");
    const where = Object.fromEntries(conditions);
    return new GeneratedRows(calls).findMany({ ...options, where });
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
