import type { Direction } from "../../context/any-query.js";
import { deepCopy } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { beginWatch } from "../../live/measured-read.js";
import { watchIndexedRow } from "../../live/watch-row.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { orderIn } from "../../query/plan/choose-plan.js";
import { planIndexRead, planScan } from "../../query/plan/plan-query.js";
import { countRows } from "../../query/read/count-rows.js";
import { findByUniqueIndex } from "../../query/read/find-unique.js";
import { foundRow } from "../../query/read/found-row.js";
import type { PageOptions } from "../../query/read/read-page.js";
import { readRows } from "../../query/read/read-rows.js";
import type { Versioned } from "../repository/result-types.js";
import type { RowQuery } from "../repository/row-query.js";
import { RowReads } from "../repository/row-reads.js";
import { runCall } from "../run-call.js";
import {
  type IndexConditions,
  indexNamed,
  indexQuery,
  isDescending,
  whereOfIndex,
} from "./index-query.js";
import { linkingFields, planRelated, readRelatedOf, relatedTable } from "./related-rows.js";
import {
  assertUniqueValues,
  findRow,
  primaryKeyFields,
  primaryKeyParts,
  tableQuery,
} from "./table-query.js";

/** Options of a list: its pages, its order and its limit of reads. */
export interface ListOptions extends PageOptions {
  /** The direction in which the index is read. The default is `"asc"`. */
  readonly order?: Direction | undefined;
  /** The maximum number of entries to read. The default is the `maxReads` of the database. */
  readonly maxReads?: number | undefined;
}

/** Options for loading related rows. */
interface RelatedOptions {
  /** The maximum number of related rows for each row. All of them if absent. */
  readonly take?: number | undefined;
}

const noOptions = Object.freeze({});

/** Lets a query read only the index entry if the entry holds the whole row. */
const entryQuery = { forWrite: false };

/** The methods of a table that only read. */
export class TableReads<Row> {
  readonly #context: TableContext;
  readonly #rows: RowReads;

  constructor(context: TableContext) {
    this.#context = context;
    this.#rows = new RowReads(context);
  }

  /**
   * Returns the row with a primary key, or null if there is none. Costs one read.
   *
   * @throws {InvalidQueryError} if no row can have one of the values. The same applies to all
   * methods.
   */
  findByPrimaryKey(primaryKey: readonly unknown[]): Promise<Row | null> {
    const key = deepCopy(primaryKey);
    return runCall(this.#context, "findUnique", noOptions, async (meter) => {
      const found = await findRow(this.#context, key, meter);
      return (found?.row ?? null) as Row | null;
    });
  }

  /**
   * Returns the row with a primary key. Costs one read.
   *
   * @throws {RowNotFoundError} if there is no such row.
   */
  findByPrimaryKeyOrThrow(primaryKey: readonly unknown[]): Promise<Row> {
    const context = this.#context;
    const key = deepCopy(primaryKey);
    return runCall(context, "findUniqueOrThrow", noOptions, async (meter) => {
      const found = await findRow(context, key, meter);
      if (found !== undefined) return found.row as Row;
      throw new RowNotFoundError(context.model.name, primaryKeyFields(context, key));
    });
  }

  /**
   * Returns the rows with some primary keys, in the same order, with null for each that does not
   * exist. Costs one read per key. They are read together.
   */
  findEachByPrimaryKey(primaryKeys: readonly (readonly unknown[])[]): Promise<(Row | null)[]> {
    const context = this.#context;
    const keysCopy = deepCopy(primaryKeys);
    return runCall(context, "findMany", noOptions, async (meter) => {
      const keys = keysCopy.map((primaryKey) => primaryKeyParts(context.model, primaryKey));
      meter.index = "primaryKey";
      meter.add(keys.length);
      const entries = await readRows(context, keys);
      return entries.map(
        (entry, i) => (foundRow(context, keys[i]!, entry)?.row ?? null) as Row | null,
      );
    });
  }

  /**
   * Returns the row with a primary key and its versionstamp, which a later write can pass as
   * `ifVersion`. Null if there is none. Costs one read.
   */
  findVersionedByPrimaryKey(primaryKey: readonly unknown[]): Promise<Versioned<Row> | null> {
    const key = deepCopy(primaryKey);
    return runCall(this.#context, "findUnique", noOptions, async (meter) => {
      const found = await findRow(this.#context, key, meter);
      return found ? { row: found.row as Row, versionstamp: found.versionstamp } : null;
    });
  }

  /**
   * Returns the row with these values in a unique index, or null if there is none. Costs two reads,
   * or one if the index entry holds the whole row.
   *
   * @throws {UnknownIndexError} if the model has no unique index of this name.
   * @throws {IndexNotReadyError} if the index is not built.
   */
  findByIndex(indexName: string, values: readonly unknown[]): Promise<Row | null> {
    const valuesCopy = deepCopy(values);
    return runCall(this.#context, "findUnique", noOptions, async (meter) => {
      const index = indexNamed(this.#context.model, indexName, true);
      assertUniqueValues(this.#context.model, index, valuesCopy);
      const found = await findByUniqueIndex(this.#context, index, valuesCopy, meter, entryQuery);
      return (found?.row ?? null) as Row | null;
    });
  }

  /**
   * Finds the rows that match conditions on the first fields of an index, in the order of the
   * index. The conditions are an array, `[color]`, or an object, `{ color, size: { gt: 3 } }`. Each
   * is a value or a list of values, `{ in: [...] }`. The last one can be a range. Without
   * conditions, `{}`, it finds every row that the index holds. Like `findMany`, it returns a page
   * or one row after another.
   *
   * @throws {UnknownIndexError} if the model has no index of this name.
   * @throws {InvalidQueryError} if a value is undefined or of another kind than its field, or if
   * the index does not have a field.
   * @throws {UnindexedQueryError} if a condition comes after a range, or after a field without a
   * condition.
   * @throws {IndexNotReadyError} if the index is not built.
   * @throws {InvalidCursorError} if the cursor belongs to another list.
   * @throws {ReadLimitError} if it needs to read more than `maxReads` entries.
   * @throws {RangeError} if `take` is not a positive integer.
   */
  listByIndex(
    indexName: string,
    conditions: IndexConditions,
    options: ListOptions = noOptions,
  ): RowQuery<Row> {
    const { order, ...query } = options;
    const context = this.#context;
    const conditionsCopy = deepCopy(conditions);
    const plans = () => {
      const { model } = context;
      const index = indexNamed(model, indexName);
      const where = whereOfIndex(model, index, conditionsCopy);
      return [planIndexRead(model, index, where, isDescending(model, order), orderIn(context))];
    };
    return tableQuery(context, "findMany", query, plans);
  }

  /**
   * Finds all rows of the model in the order of the primary key.
   *
   * @throws the errors of `listByIndex` that concern its options.
   */
  scan(options: ListOptions = noOptions): RowQuery<Row> {
    const { order, ...query } = options;
    const context = this.#context;
    const plans = () => [
      { ...planScan(context.model, {}), reverse: isDescending(context.model, order) },
    ];
    return tableQuery(context, "scan", query, plans);
  }

  /** Returns the number of rows of the model. Costs one read if the model keeps the count. */
  count(): Promise<number> {
    return this.#rows.count();
  }

  /**
   * Returns the number of rows that `listByIndex` finds. Costs one read if the index keeps the
   * count and there is a value for each of its fields.
   */
  countByIndex(indexName: string, conditions: IndexConditions): Promise<number> {
    const context = this.#context;
    const conditionsCopy = deepCopy(conditions);
    return runCall(context, "count", noOptions, async (meter) => {
      const index = indexNamed(context.model, indexName);
      const where = whereOfIndex(context.model, index, conditionsCopy);
      return await countRows(context, { index: indexName, where }, meter);
    });
  }

  /**
   * Returns a stream of the row with a primary key, or null while there is none. It begins with the
   * current row and continues after each change.
   */
  watchByPrimaryKey(primaryKey: readonly unknown[]): ReadableStream<Row | null> {
    return this.#rows.watch({
      where: primaryKeyFields(this.#context, primaryKey),
    }) as ReadableStream<Row | null>;
  }

  /**
   * Returns a stream of the row with these values in a unique index, or null while there is none.
   * It begins with the current row and continues after each change.
   *
   * @throws {IndexNotReadyError} in the stream, if the index is not built.
   */
  watchRowByIndex(indexName: string, values: readonly unknown[]): ReadableStream<Row | null> {
    const context = this.#context;
    const valuesCopy = deepCopy(values);
    return beginWatch(context, () => {
      const index = indexNamed(context.model, indexName, true);
      assertUniqueValues(context.model, index, valuesCopy);
      return watchIndexedRow(context, index, valuesCopy, noOptions, async (found) =>
        found === null ? null : (found.row as Row),
      );
    });
  }

  /**
   * Returns a stream of the rows that `listByIndex` finds. It begins with the current rows and
   * continues after each change that affects them.
   *
   * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and the model is not
   * `live: true`.
   * @throws the errors of `listByIndex`, some of them only in the stream.
   */
  watchByIndex(
    indexName: string,
    conditions: IndexConditions,
    options: ListOptions = noOptions,
  ): ReadableStream<readonly Row[]> {
    const { order, ...query } = options;
    const context = this.#context;
    return beginWatch(context, () => {
      const index = indexNamed(context.model, indexName);
      const where = whereOfIndex(context.model, index, conditions);
      isDescending(context.model, order);
      const rows = indexQuery(index, where, order);
      return this.#rows.watchMany({ ...query, ...rows }) as ReadableStream<readonly Row[]>;
    });
  }

  /**
   * Loads the related rows of one row: a row or null for `belongsTo` and `hasOne`, a list for the
   * other relations.
   */
  async loadRelated<Related>(
    relation: string,
    row: Row,
    options: RelatedOptions = noOptions,
  ): Promise<Related> {
    const [related] = await readRelatedOf(this.#context, relation, [row as AnyRow], options);
    return related as Related;
  }

  /** Loads the related rows of each of some rows, in their order. All are read together. */
  loadRelatedOfEach<Related>(
    relation: string,
    rows: readonly Row[],
    options: RelatedOptions = noOptions,
  ): Promise<Related[]> {
    const anyRows = rows as readonly AnyRow[];
    return readRelatedOf(this.#context, relation, anyRows, options) as Promise<Related[]>;
  }

  /**
   * Finds the rows that a `hasMany` relation leads to from a row, in the order of the index that
   * serves the relation.
   */
  listRelated<Related>(
    relation: string,
    row: Row,
    options: ListOptions = noOptions,
  ): RowQuery<Related> {
    const { order, ...query } = options;
    const target = relatedTable(this.#context, relation);
    const [linkingRow] = linkingFields(this.#context, relation, [row as AnyRow]);
    const plans = () =>
      planRelated(this.#context, relation, linkingRow!, isDescending(target.model, order));
    return tableQuery(target, "findMany", query, plans);
  }
}
