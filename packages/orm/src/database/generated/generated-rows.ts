import type { AnyQuery } from "../../context/any-query.js";
import { deepCopy } from "../../model/rows/copy-of-data.js";
import { besideCatalogs } from "../../context/beside-catalogs.js";
import { scopedUnique } from "../../context/scope.js";
import type { TableContext } from "../../context/table-context.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { keyPartOf } from "../../indexes/key-parts.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { LinkedRelation } from "../../model/relations/linked-relations.js";
import type { AnyAggregateQuery } from "../../query/aggregate/aggregate-query.js";
import { primaryKeyIn } from "../../query/plan/plan-unique.js";
import { foundRow } from "../../query/read/rows/found-row.js";
import { readRows } from "../../query/read/rows/read-rows.js";
import { includedRelations } from "../../relations/load/include-query.js";
import { includedModels } from "../../relations/load/included-models.js";
import { loadRelations } from "../../relations/load/load-relations.js";
import { retryTornRead } from "../../relations/load/retry-torn-read.js";
import { tableOfModel } from "../../relations/referrers.js";
import type { PurgeResult } from "../../write/deleted/purge-rows.js";
import { withDeletedRows } from "../../write/deleted/purging-context.js";
import { type CallOptions, generatedOptions } from "../call-options.js";
import { Calls } from "../calls.js";
import { parseOptions } from "../parse-options.js";
import { copyQuery } from "../repository/copy-query.js";
import type { CreatedMany, ManyResult } from "../repository/result-types.js";
import { RowOperations } from "../repository/row-operations.js";
import type { RowQuery } from "../repository/row-query.js";
import { type ShapedRow, shapeRows } from "../repository/shape-rows.js";
import { ListQuery } from "./list-query.js";
import { refuseRelated } from "./parse-generated-options.js";

/** Determines what is returned of each row, and the conditions on related rows. */
type RowShape = Pick<AnyQuery, "select" | "include" | "withVersionstamp"> & {
  /** The conditions of each call of `whereRelated`. Rows have to meet all of them. */
  readonly whereRelated?: readonly unknown[] | undefined;
};

type ReadRelated = Pick<AnyQuery, "take">;

/**
 * The methods that a generated repository calls: those of every repository, and some that it alone
 * needs. `Rows` describes them with their types. Each method returns rows in the shape of the
 * constructor.
 */
export class GeneratedRows extends RowOperations {
  readonly #calls: Calls;
  readonly #shape: RowShape;

  constructor(calls: Calls, shape: RowShape = {}) {
    super(calls);
    this.#calls = calls;
    this.#shape = shape;
  }

  /**
   * Returns a repository whose methods return something else of a row, or only rows that meet
   * conditions on related rows. Selections replace each other. Relations and conditions are added
   * to those that there are already.
   */
  view(Repository: unknown, shape: { readonly [Option in keyof RowShape]?: unknown }): ShapedRow {
    // The caller may change the objects that it has passed. The calls refuse what is not valid.
    const { whereRelated, ...rest } = deepCopy(shape);
    const { include, ...others } = rest as RowShape;
    const related = [...(this.#shape.whereRelated ?? []), whereRelated];
    const viewed = new GeneratedRows(this.#calls, {
      ...this.#shape,
      ...others,
      ...(include && { include: { ...this.#shape.include, ...include } }),
      ...(Object.hasOwn(shape, "whereRelated") && { whereRelated: related }),
    });
    return new (Repository as new (rows: GeneratedRows) => unknown)(viewed);
  }

  override findUnique(query: AnyQuery): Promise<ShapedRow> {
    return super.findUnique(this.#shaped(query));
  }

  override findUniqueOrThrow(query: AnyQuery): Promise<ShapedRow> {
    return super.findUniqueOrThrow(this.#shaped(query));
  }

  override findMany(input: AnyQuery): ListQuery<ShapedRow> {
    const query = copyQuery(this.#shaped(input));
    const rows = super.findMany(query);
    const { take: _, ...first } = query;
    return new ListQuery<ShapedRow>({
      page: () => rows.then(),
      stream: () => rows[Symbol.asyncIterator](),
      findFirst: () => (first.skip ? this.#firstAfter(first) : super.findFirst(first)),
      findFirstOrThrow: async () => {
        if (!first.skip) return await super.findFirstOrThrow(first);
        const row = await this.#firstAfter(first);
        if (row !== null) return row;
        throw new RowNotFoundError(this.#calls.context.model.name, first.where);
      },
      explain: () => super.explain(query),
    });
  }

  override scan(query: AnyQuery = {}): RowQuery<ShapedRow> {
    if (this.#shape.whereRelated === undefined) return super.scan(this.#shaped(query));
    const { order = "asc", ...options } = copyQuery(query);
    const orderBy = this.#calls.context.model.primaryKey.map((field) => ({ [field]: order }));
    return super.findMany(this.#shaped({ ...options, orderBy }));
  }

  override count(query: AnyQuery = {}): Promise<number> {
    return super.count(this.#restricted(query));
  }

  override exists(query: AnyQuery = {}): Promise<boolean> {
    return super.exists(this.#restricted(query));
  }

  override rank(query: AnyQuery): Promise<number | null> {
    return super.rank(this.#restricted(query));
  }

  override distinct(query: AnyQuery): Promise<unknown[]> {
    return super.distinct(this.#restricted(query));
  }

  override aggregate(query: AnyQuery): Promise<unknown> {
    return super.aggregate(this.#restricted(query));
  }

  override groupBy(query: AnyAggregateQuery): Promise<unknown[]> {
    return super.groupBy(this.#restricted(query));
  }

  override purge(input: CallOptions): Promise<PurgeResult> {
    return super.purge(this.#restricted(input));
  }

  override watch(query: AnyQuery): ReadableStream<ShapedRow> {
    return super.watch(this.#shaped(query));
  }

  override watchMany(query: AnyQuery): ReadableStream<ShapedRow[]> {
    return super.watchMany(this.#shaped(query));
  }

  override create(input: CallOptions): Promise<ShapedRow> {
    return super.create(this.#shaped(input));
  }

  override createMany(input: CallOptions): Promise<CreatedMany<ShapedRow>> {
    return super.createMany(this.#shaped(input));
  }

  override update(input: CallOptions): Promise<ShapedRow> {
    return super.update(this.#shaped(input));
  }

  override updateMany(input: CallOptions): Promise<ManyResult<ShapedRow>> {
    return super.updateMany(this.#shaped(input));
  }

  override upsert(input: CallOptions): Promise<ShapedRow> {
    return super.upsert(this.#shaped(input));
  }

  override restore(input: CallOptions): Promise<ShapedRow> {
    return super.restore(this.#shaped(input));
  }

  override delete(input: CallOptions): Promise<ShapedRow> {
    return super.delete(this.#shaped(input));
  }

  override deleteMany(input: CallOptions): Promise<ManyResult<ShapedRow>> {
    return super.deleteMany(this.#shaped(input));
  }

  findVersioned(query: AnyQuery): Promise<ShapedRow> {
    return this.findUnique({ ...query, withVersionstamp: true });
  }

  findEach(primaryKeys: readonly unknown[], options: AnyQuery = {}): Promise<ShapedRow[]> {
    const { primaryKey } = this.#calls.context.model;
    const wheres = deepCopy(primaryKeys).map((key) => {
      const values = primaryKey.length === 1 ? [key] : (key as readonly unknown[]);
      return Object.fromEntries(primaryKey.map((field, i) => [field, values[i]]));
    });
    const query = this.#shaped(options);
    const { include } = query;
    const modelsOf = () => includedModels(this.#calls.context, include);
    return this.#calls.read(
      "findMany",
      query,
      async (table, { withDeleted }, meter) => {
        const context = withDeleted ? withDeletedRows(table) : table;
        if (query.whereRelated !== undefined) refuseRelated(context.model.name, "findEach");
        const keyOf = (where: AnyRow) => primaryKeyIn(context.model, scopedUnique(context, where));
        const keys = wheres.map(keyOf);
        meter.index = "primaryKey";
        const read = async (): Promise<ShapedRow[]> => {
          meter.add(keys.length);
          const entries = await readRows(context, keys);
          const found = entries.map((entry, i) => foundRow(context, keys[i]!, entry));
          const present = found.filter((row) => row !== undefined);
          const shaped = (await shapeRows(context, present, query, meter)).values();
          return found.map((row) => (row === undefined ? null : shaped.next().value));
        };
        return include === undefined ? await read() : await retryTornRead(read);
      },
      modelsOf,
    );
  }

  /** Returns the first row of a query with `skip`, which only lists have. */
  async #firstAfter(query: AnyQuery): Promise<ShapedRow> {
    const { items } = await super.findMany({ ...query, take: 1 });
    return items[0] ?? null;
  }

  #shaped<Query extends AnyQuery>(query: Query): Query & RowShape {
    return { ...this.#shape, ...query };
  }

  /** Adds the conditions on related rows, which the call refuses if it does not take them. */
  #restricted<Query extends object>(query: Query): Query {
    const { whereRelated } = this.#shape;
    return whereRelated === undefined ? query : { ...query, whereRelated };
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

  listRelated(relation: string, row: object, options?: AnyQuery): ListQuery<ShapedRow> {
    const { context } = this.#calls;
    const link = linkOf(context, relation);
    const fields = "fields" in link.relation ? link.relation.fields : [];
    const [linking] = linkingFields(link, context, [row as AnyRow]);
    const conditions = context.model.primaryKey.map((field, i) => [fields[i], linking![field]]);
    // The fields of the relation need not be those of the primary key.
    const calls = new Calls(tableOfModel(context.tables, link.target), parseRelated);
    const where = Object.fromEntries(conditions);
    return new GeneratedRows(calls).findMany({ ...options, where });
  }
}

const parseRelated: typeof parseOptions = (context, method, argument) =>
  parseOptions(context, method, argument, generatedOptions);

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
