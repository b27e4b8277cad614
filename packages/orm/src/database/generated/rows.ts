import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { Direction } from "../../context/any-query.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { PageOptions } from "../../query/read/read-page.js";
import type { WriteOptions } from "../../write/input/write-options.js";
import { Calls } from "../calls.js";
import type { CreatedMany, Versioned } from "../repository/result-types.js";
import type { RowQuery } from "../repository/row-query.js";
import { GeneratedRows } from "./generated-rows.js";
import { parseGeneratedOptions } from "./parse-generated-options.js";

/** Options of a list: its pages, its order and its limit of reads. */
export interface ListOptions extends PageOptions {
  /** The direction in which the index is read. The default is `"asc"`. */
  readonly order?: Direction | undefined;
  /** The maximum number of entries to read. The default is the `maxReads` of the database. */
  readonly maxReads?: number | undefined;
}

/** Identifies a row by its primary key, or by the values of the unique index that is named. */
interface UniqueQuery {
  readonly where: AnyRow;
  readonly index?: string;
}

/**
 * Selects the rows that match conditions on the first fields of an index. A condition is a value, a
 * list of values, `{ in: [...] }`, or for the last field a range. `{}` is no condition. The
 * condition on an array is about its elements.
 */
interface IndexQuery {
  readonly where: AnyRow;
  readonly index: string;
}

/** The aggregates to read: of these fields, and the number of rows. */
interface AggregatesQuery {
  readonly count: true;
  readonly sum?: Readonly<Record<string, true>>;
  readonly avg?: Readonly<Record<string, true>>;
  readonly min?: Readonly<Record<string, true>>;
  readonly max?: Readonly<Record<string, true>>;
}

type ExpiryOptions = Pick<WriteOptions, "expireIn">;

interface TakeOptions {
  /** The maximum number of related rows for each row. All of them if absent. */
  readonly take?: number | undefined;
}

/**
 * The rows of one model, as generated repositories access them. The methods are those of
 * `Repository`. Generated code supplies the types, and names the index of each query.
 */
export interface Rows<Row extends object, CreateInput, UpdateInput> {
  findUnique(
    query: UniqueQuery & { readonly withVersionstamp: true },
  ): Promise<Versioned<Row> | null>;
  findUnique(query: UniqueQuery): Promise<Row | null>;
  findUniqueOrThrow(query: UniqueQuery): Promise<Row>;
  /**
   * Returns the rows with some primary keys, in the same order, with null for each that does not
   * exist. Costs one read per key. They are read together.
   */
  findEach(primaryKeys: readonly AnyRow[]): Promise<(Row | null)[]>;
  findMany(query: IndexQuery & ListOptions): RowQuery<Row>;
  scan(options?: ListOptions): RowQuery<Row>;
  count(query?: IndexQuery): Promise<number>;
  /** Reads the aggregates that are asked for, over all rows or those of a query. */
  aggregate<Result>(query: Partial<IndexQuery> & AggregatesQuery): Promise<Result>;
  watch(query: UniqueQuery): ReadableStream<Row | null>;
  watchMany(query: IndexQuery & ListOptions): ReadableStream<readonly Row[]>;
  create(options: ExpiryOptions & { readonly data: CreateInput }): Promise<Row>;
  createMany(
    options: ExpiryOptions & {
      readonly data: readonly CreateInput[];
      readonly atomic?: boolean | undefined;
      readonly skipDuplicates?: boolean | undefined;
    },
  ): Promise<CreatedMany<Row>>;
  update(
    options: WriteOptions & { readonly where: AnyRow; readonly data: UpdateInput },
  ): Promise<Row>;
  /**
   * Changes the row with a key, or creates it if it does not exist. `create` can leave out the
   * fields that the key determines.
   *
   * @throws {InvalidArgumentError} if the new row would have another key.
   */
  upsert(
    options: WriteOptions &
      UniqueQuery & { readonly create: object; readonly update: UpdateInput },
  ): Promise<Row>;
  delete(
    options: Pick<WriteOptions, "ifVersion"> & { readonly where: AnyRow },
  ): Promise<Row>;
  /**
   * Loads the related rows of one row: a row or null for `belongsTo` and `hasOne`, a list for the
   * other relations. The row may have been read some time ago. If the row that it refers to has
   * been deleted since, the result is null.
   */
  loadRelated<Related>(relation: string, row: Row, options?: TakeOptions): Promise<Related>;
  /** Loads the related rows of each of some rows, in their order. All are read together. */
  loadRelatedOfEach<Related>(
    relation: string,
    rows: readonly Row[],
    options?: TakeOptions,
  ): Promise<Related[]>;
  /**
   * Finds the rows that a `hasMany` relation leads to from a row, in the order of the index that
   * serves the relation.
   */
  listRelated<Related>(relation: string, row: Row, options?: ListOptions): RowQuery<Related>;
}

/**
 * Returns the rows of a model for a generated repository. The caller supplies the types.
 *
 * @param modelName the `name` of the model, not its name in the program.
 * @throws {ModelDefinitionError} if the database has no such model.
 */
export function rowsOf<Row extends object, CreateInput, UpdateInput>(
  database: AnyDatabase,
  modelName: string,
): Rows<Row, CreateInput, UpdateInput> {
  return new GeneratedRows(new Calls(tableContextOf(database, modelName), parseGeneratedOptions));
}
