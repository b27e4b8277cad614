import type { Direction } from "../../context/any-query.js";
import { copyOfGiven } from "../../context/copy-of-data.js";
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
  primaryKeyParts,
  tableQuery,
  whereOf,
} from "./table-query.js";

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

  /**
   * The row of a primary key, null where there is none. One read.
   *
   * @throws {InvalidQueryError} for a value that none of the rows can have, as all methods do.
   */
  findByPrimaryKey(primaryKey: readonly unknown[]): Promise<Row | null> {
    const key = copyOfGiven(primaryKey);
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const found = await findRow(this.#context, key, meter);
      return (found?.row ?? null) as Row | null;
    });
  }

  /**
   * The row of a primary key. One read.
   *
   * @throws {RowNotFoundError} where there is none.
   */
  findByPrimaryKeyOrThrow(primaryKey: readonly unknown[]): Promise<Row> {
    const context = this.#context;
    const key = copyOfGiven(primaryKey);
    return runCall(context, "findUniqueOrThrow", nothing, async (meter) => {
      const found = await findRow(context, key, meter);
      if (found !== undefined) return found.row as Row;
      throw new RowNotFoundError(context.model.name, whereOf(context, key));
    });
  }

  /** The rows of some primary keys, in their order; null for each where there is none. A read for each, made together. */
  findEachByPrimaryKey(primaryKeys: readonly (readonly unknown[])[]): Promise<(Row | null)[]> {
    const context = this.#context;
    const own = copyOfGiven(primaryKeys);
    return runCall(context, "findMany", nothing, async (meter) => {
      const keys = own.map((primaryKey) => primaryKeyParts(context.model, primaryKey));
      meter.index = "primaryKey";
      meter.add(keys.length);
      const entries = await readRows(context, keys);
      return entries.map(
        (entry, i) => (foundRow(context, keys[i]!, entry)?.row ?? null) as Row | null,
      );
    });
  }

  /** The row of a primary key with its versionstamp, for a write under `ifVersion`; null where there is none. One read. */
  findVersionedByPrimaryKey(primaryKey: readonly unknown[]): Promise<Versioned<Row> | null> {
    const key = copyOfGiven(primaryKey);
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const found = await findRow(this.#context, key, meter);
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
    const own = copyOfGiven(values);
    return runCall(this.#context, "findUnique", nothing, async (meter) => {
      const index = indexNamed(this.#context.model, indexName, true);
      assertUniqueValues(this.#context.model, index, own);
      const found = await findByUniqueIndex(this.#context, index, own, meter, reading);
      return (found?.row ?? null) as Row | null;
    });
  }

  /**
   * Rows in the order of an index: those that conditions on its first fields mean, `[color]` or `{ color, size: { gt: 3 } }`.
   * Each is a value, or one of several `{ in: [...] }`, and the last may be bounds. With none, `{}`, it is every row
   * that the index holds.
   *
   * @throws {UnknownIndexError} for a name that the model does not have.
   * @throws {InvalidQueryError} for what is undefined, of another kind than its field, or of no field of the index.
   * @throws {UnindexedQueryError} for a condition behind bounds, or behind a field without one.
   * @throws {IndexNotReadyError} where the index is not built.
   * @throws {InvalidCursorError} for a cursor of another list.
   * @throws {ReadLimitError} where it reads more than it may.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  listByIndex(
    indexName: string,
    conditions: IndexConditions,
    options: ListOptions = nothing,
  ): RowQuery<Row> {
    const { order, ...query } = options;
    const context = this.#context;
    const own = copyOfGiven(conditions);
    const plans = () => {
      const { model } = context;
      const index = indexNamed(model, indexName);
      const where = whereOfIndex(model, index, own);
      return [planIndexRead(model, index, where, isDescending(model, order), orderIn(context))];
    };
    return tableQuery(context, "findMany", query, plans);
  }

  /** Every row of the model, in the order of the primary key. It throws what `listByIndex` throws of its options. */
  scan(options: ListOptions = nothing): RowQuery<Row> {
    const { order, ...query } = options;
    const context = this.#context;
    const plans = () => [
      { ...planScan(context.model, {}), reverse: isDescending(context.model, order) },
    ];
    return tableQuery(context, "scan", query, plans);
  }

  /** How many rows the model has. One read where it keeps the number. */
  count(): Promise<number> {
    return this.#rows.count();
  }

  /** How many rows `listByIndex` lists. One read where the index keeps the number and has a value for each field. */
  countByIndex(indexName: string, conditions: IndexConditions): Promise<number> {
    const context = this.#context;
    const own = copyOfGiven(conditions);
    return runCall(context, "count", nothing, async (meter) => {
      const index = indexNamed(context.model, indexName);
      const where = whereOfIndex(context.model, index, own);
      return await countRows(context, { index: indexName, where }, meter);
    });
  }

  /** The row of a primary key, now and after each change; null while there is none. */
  watchByPrimaryKey(primaryKey: readonly unknown[]): ReadableStream<Row | null> {
    return this.#rows.watch({
      where: whereOf(this.#context, primaryKey),
    }) as ReadableStream<Row | null>;
  }

  /**
   * The row with these values in a unique index, now and after each change; null while there is none.
   *
   * @throws {IndexNotReadyError} in the stream, where the index is not built.
   */
  watchRowByIndex(indexName: string, values: readonly unknown[]): ReadableStream<Row | null> {
    const context = this.#context;
    const own = copyOfGiven(values);
    return beginWatch(context, () => {
      const index = indexNamed(context.model, indexName, true);
      assertUniqueValues(context.model, index, own);
      return watchIndexedRow(context, index, own, nothing, async (found) =>
        found === null ? null : (found.row as Row),
      );
    });
  }

  /** The rows of `listByIndex`, now and after each change that affects them. It throws what that throws. */
  watchByIndex(
    indexName: string,
    conditions: IndexConditions,
    options: ListOptions = nothing,
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
    const [own] = linkingFields(this.#context, relation, [row as AnyRow]);
    const plans = () =>
      planRelated(this.#context, relation, own!, isDescending(target.model, order));
    return tableQuery(target, "findMany", query, plans);
  }
}
