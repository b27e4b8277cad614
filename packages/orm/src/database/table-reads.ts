import type { AnyRow } from "../model/compiled-model.js";
import type { Direction } from "../query/any-query.js";
import { findByUniqueIndex } from "../query/find-unique.js";
import { planIndexRead, planScan } from "../query/plan-query.js";
import type { PageOptions } from "../query/read-page.js";
import type { TableContext } from "../query/table-context.js";
import { indexNamed, indexQuery } from "./index-query.js";
import { planRelated, readRelatedOf, relatedTable } from "./related-rows.js";
import type { Versioned } from "./result-types.js";
import type { RowQuery } from "./row-query.js";
import { RowReads } from "./row-reads.js";
import { runCall } from "./run-call.js";
import { findRow, tableQuery, whereOf } from "./table-query.js";

/** How a list is read: its pages, its order, and how much. */
export interface ListOptions extends PageOptions {
  /** Of the index; `"asc"` without it. */
  readonly order?: Direction | undefined;
  /** Entries that may be read at the most; of the database where it is absent. */
  readonly maxReads?: number | undefined;
}

/** How related rows are loaded. */
interface RelatedOptions {
  /** Related rows at the most, of each row. */
  readonly take?: number | undefined;
}

const nothing = Object.freeze({});

/** An index entry will do where it holds the row. */
const reading = { forWrite: false };

/** How the rows of a table are read. */
export class TableReads<Row> {
  readonly #context: TableContext;
  readonly #rows: RowReads;

  constructor(context: TableContext) {
    this.#context = context;
    this.#rows = new RowReads(context);
  }

  /** The row of a primary key, null where there is none. One read. */
  findByPrimaryKey(primaryKey: readonly unknown[]): Promise<Row | null> {
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const found = await findRow(this.#context, primaryKey, meter);
      return (found?.row ?? null) as Row | null;
    });
  }

  /** The same with the row's versionstamp, for a write under `ifVersion`. */
  findVersionedByPrimaryKey(primaryKey: readonly unknown[]): Promise<Versioned<Row> | null> {
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const found = await findRow(this.#context, primaryKey, meter);
      return found ? { row: found.row as Row, versionstamp: found.versionstamp } : null;
    });
  }

  /**
   * The row with these values in a unique index, null where there is none. Two reads.
   *
   * @throws {UnknownIndexError} for a name that is no unique index's.
   * @throws {IndexNotReadyError} where the index is not built.
   */
  findByIndex(indexName: string, values: readonly unknown[]): Promise<Row | null> {
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const index = indexNamed(this.#context.model, indexName, true);
      const found = await findByUniqueIndex(this.#context, index, values, meter, reading);
      return (found?.row ?? null) as Row | null;
    });
  }

  /**
   * Rows in the order of an index: those with these values in its first fields. The last of the values may be bounds
   * instead, `{ gte: 10, lt: 20 }`; with no values it is every row that the index holds.
   *
   * @throws {UnknownIndexError} for a name that the model does not have.
   * @throws {UnindexedQueryError} for bounds before the last value, or more values than the index has fields.
   * @throws {IndexNotReadyError} where the index is not built.
   * @throws {InvalidCursorError} for a cursor of another list.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  listByIndex(
    indexName: string,
    values: readonly unknown[] = [],
    options: ListOptions = nothing,
  ): RowQuery<Row> {
    const { order, ...query } = options;
    const plans = () => [
      planIndexRead(
        this.#context.model,
        indexNamed(this.#context.model, indexName),
        values,
        order === "desc",
      ),
    ];
    return tableQuery(this.#context, "findMany", query, plans);
  }

  /** Every row of the model, in the order of the primary key. It throws what `listByIndex` throws of its options. */
  scan(options: ListOptions = nothing): RowQuery<Row> {
    const { order, ...query } = options;
    const plans = () => [{ ...planScan(this.#context.model, {}), reverse: order === "desc" }];
    return tableQuery(this.#context, "scan", query, plans);
  }

  /** How many rows the model has. One read where it keeps the number. */
  count(): Promise<number> {
    return this.#rows.count();
  }

  /** How many rows `listByIndex` lists. One read where the index keeps the number and has a value for each field. */
  async countByIndex(indexName: string, values: readonly unknown[]): Promise<number> {
    return await this.#rows.count(indexQuery(indexNamed(this.#context.model, indexName), values));
  }

  /** The row of a primary key, now and after each change; null while there is none. */
  watchByPrimaryKey(primaryKey: readonly unknown[]): ReadableStream<Row | null> {
    return this.#rows.watch({
      where: whereOf(this.#context, primaryKey),
    }) as ReadableStream<Row | null>;
  }

  /** The row with these values in a unique index, now and after each change; null while there is none. */
  watchRowByIndex(indexName: string, values: readonly unknown[]): ReadableStream<Row | null> {
    const { where = nothing } = indexQuery(
      indexNamed(this.#context.model, indexName, true),
      values,
    );
    return this.#rows.watch({ where }) as ReadableStream<Row | null>;
  }

  /** The rows of `listByIndex`, now and after each change that affects them. */
  watchByIndex(
    indexName: string,
    values: readonly unknown[],
    options: ListOptions = nothing,
  ): ReadableStream<readonly Row[]> {
    const { order, ...query } = options;
    const rows = indexQuery(indexNamed(this.#context.model, indexName), values, order);
    return this.#rows.watchMany({ ...query, ...rows }) as ReadableStream<readonly Row[]>;
  }

  /** What a relation leads to from a row: of `belongsTo` and `hasOne` a row or null, of the others a list. */
  async loadRelated<Related>(
    relation: string,
    row: Row,
    options: RelatedOptions = nothing,
  ): Promise<Related> {
    const [related] = await readRelatedOf(this.#context, relation, [row as AnyRow], options);
    return related as Related;
  }

  /** The same of each of some rows, in their order, read together. */
  loadRelatedOfEach<Related>(
    relation: string,
    rows: readonly Row[],
    options: RelatedOptions = nothing,
  ): Promise<Related[]> {
    const given = rows as readonly AnyRow[];
    return readRelatedOf(this.#context, relation, given, options) as Promise<Related[]>;
  }

  /** The rows that a `hasMany` relation leads to from a row, in the order of the index that it is read by. */
  listRelated<Related>(
    relation: string,
    row: Row,
    options: ListOptions = nothing,
  ): RowQuery<Related> {
    const { order, ...query } = options;
    const target = relatedTable(this.#context, relation);
    const plans = () => planRelated(this.#context, relation, row as AnyRow, order === "desc");
    return tableQuery(target, "findMany", query, plans);
  }
}
