import { type AnyDatabase, tableWithin } from "../../state/context/any-database.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { WriteOptions } from "../../write/input/write-options.js";
import type { PurgeResult } from "../../write/deleted/purge-rows.js";
import { Calls } from "../calls.js";
import type { CreatedMany, ManyResult } from "../repository/results/result-types.js";
import type { RowQuery } from "../repository/row-reads.js";
import { GeneratedRows } from "./generated-rows.js";
import type {
  CountOptions,
  ListOptions,
  ManyDeleteOptions,
  ManyUpdateOptions,
  ReadOptions,
  RowRankOptions,
  ValueOptions,
} from "../repository/options/read-options.js";
import type { SearchExplanation } from "../../read/search/explain-search.js";
import type { RowSearchOptions, SearchPage } from "../repository/search-types.js";
import type { Page } from "../../state/context/page.js";
import type { ListQuery } from "./list-query.js";
import type { ChangeOptions, VersionOptions } from "./logged-types.js";

/** What is returned of each row. Generated code knows the fields and the relations. */
interface AnyShape {
  readonly select?: unknown;
  readonly include?: unknown;
  readonly withVersionstamp?: boolean;
  readonly whereRelated?: unknown;
}

/** Identifies a row by its primary key, or by the values of the unique index that is named. */
interface UniqueQuery {
  readonly where: AnyRow;
  readonly index?: string;
}

/**
 * Selects the rows that match conditions on the first fields of an index, or of the primary key if
 * no index is named. A condition is a value, a list of values, `{ in: [...] }`, or for the last
 * field a range. `{}` is no condition. The condition on an array is about its elements.
 */
interface IndexQuery {
  readonly where: AnyRow;
  readonly index?: string;
}

/** The aggregates to read: of these fields, and the number of rows. */
interface AggregatesQuery extends ReadOptions {
  readonly count: true;
  readonly sum?: Readonly<Record<string, true>>;
  readonly avg?: Readonly<Record<string, true>>;
  readonly min?: Readonly<Record<string, true>>;
  readonly max?: Readonly<Record<string, true>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a type that only generated code knows.
type Known = any;

type ExpiryOptions = Pick<WriteOptions, "expireIn">;

interface TakeOptions {
  /** The maximum number of related rows for each row. All of them if absent. */
  readonly take?: number | undefined;
}

/**
 * The rows of one model, as generated repositories access them. The methods are those of
 * `Repository`. Generated code supplies the types, and names the index of each query. It omits the
 * type arguments, because one type for all models costs the compiler less than one for each.
 */
export interface Rows<Row extends object = Known, CreateInput = Known, UpdateInput = Known> {
  /**
   * Returns a repository whose methods return something else of a row, or only the rows that meet
   * conditions on related rows.
   *
   * @param Repository the class that generated code calls it from. Its type would cost the compiler
   * more than the rest of the call.
   */
  view(Repository: unknown, shape: AnyShape): Known;
  findUnique(query: UniqueQuery & ReadOptions): Promise<Row | null>;
  findUniqueOrThrow(query: UniqueQuery & ReadOptions): Promise<Row>;
  /** Returns the row with its versionstamp. */
  findVersioned(query: UniqueQuery & ReadOptions): Promise<Known>;
  /**
   * Returns the rows with some primary keys, in the same order, with null for each that does not
   * exist. A key is a value, or a list of values if it has several fields. Costs one read per key.
   * They are read together.
   */
  findEach(primaryKeys: readonly unknown[], options?: ReadOptions): Promise<(Row | null)[]>;
  findMany(query: IndexQuery & ListOptions<Row>): ListQuery<Row>;
  scan(options?: ListOptions<Row>): RowQuery<Row>;
  count(query?: Partial<IndexQuery> & CountOptions<Row>): Promise<number>;
  exists(query?: Partial<IndexQuery> & CountOptions<Row>): Promise<boolean>;
  /** Finds the rows that match a text, by the full-text index that is named. */
  search(
    query: IndexQuery & RowSearchOptions<Row> & { readonly query: string },
  ): Promise<SearchPage<Row>>;
  /** Returns how a search would be answered. */
  explainSearch(
    query: IndexQuery & RowSearchOptions<Row> & { readonly query: string },
  ): Promise<SearchExplanation>;
  watchSearch(
    query: IndexQuery & RowSearchOptions<Row> & { readonly query: string },
  ): ReadableStream<SearchPage<Row>>;
  /** Returns how many rows precede a row in the order of an index. */
  rank(query: UniqueQuery & RowRankOptions): Promise<number | null>;
  /** Returns the values of a field of an index, each of them once. */
  distinct(query: IndexQuery & ValueOptions & { readonly field: string }): Promise<Known[]>;
  /** Reads the aggregates that are asked for, over all rows or those of a query. */
  aggregate(query: Partial<IndexQuery> & AggregatesQuery): Promise<Known>;
  /** Reads them for each combination of values of some fields. */
  groupBy(
    query: IndexQuery &
      ValueOptions &
      AggregatesQuery & {
        readonly by: readonly string[];
        readonly orderBy?: unknown;
        readonly having?: unknown;
      },
  ): Promise<Known[]>;
  watch(query: UniqueQuery & ReadOptions): ReadableStream<Row | null>;
  watchMany(query: IndexQuery & ListOptions<Row>): ReadableStream<readonly Row[]>;
  create(options: ExpiryOptions & { readonly data: CreateInput }): Promise<Row>;
  createMany(
    options: ExpiryOptions & {
      readonly data: readonly CreateInput[];
      readonly atomic?: boolean | undefined;
      readonly skipDuplicates?: boolean | undefined;
    },
  ): Promise<CreatedMany<Row>>;
  update(options: WriteOptions & UniqueQuery & { readonly data: UpdateInput }): Promise<Row>;
  /** Changes the rows of a query, or without one all rows that the filter selects. */
  updateMany(
    options: Partial<IndexQuery> &
      ManyUpdateOptions<Row> & { readonly data: UpdateInput },
  ): Promise<ManyResult<Row>>;
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
  delete(options: Pick<WriteOptions, "ifVersion"> & UniqueQuery): Promise<Row>;
  /** Deletes the rows of a query, or without one all rows that the filter selects. */
  deleteMany(
    options: Partial<IndexQuery> & ManyDeleteOptions<Row>,
  ): Promise<ManyResult<Row>>;
  /**
   * Clears the mark of a deleted row, with `cascade` also those of the rows that were marked with
   * it. The model must have `softDelete`.
   */
  restore(
    options: Pick<WriteOptions, "ifVersion"> &
      UniqueQuery & { readonly cascade?: boolean | undefined },
  ): Promise<Row>;
  /** Removes a row that is marked as deleted, or those that were marked before a time. */
  purge(options: UniqueQuery | { readonly before: Date }): Promise<PurgeResult>;
  /** Follows the changes of rows in the log. */
  changes(options?: ChangeOptions<Known>): AsyncIterableIterator<Known>;
  /** Returns the versions of a row in the log, newest first. */
  history(query: UniqueQuery & VersionOptions): Promise<Page<Known>>;
  /** Writes a version of a row again. */
  restoreRow(
    options: Pick<WriteOptions, "ifVersion"> & UniqueQuery & { readonly versionstamp: string },
  ): Promise<Known>;
  /**
   * Loads the related rows of one row: a row or null for `belongsTo` and `hasOne`, a list for the
   * other relations. The row may have been read some time ago. If the row that it refers to has
   * been deleted since, the result is null.
   */
  loadRelated(relation: string, row: Row, options?: TakeOptions): Promise<Known>;
  /** Loads the related rows of each of some rows, in their order. All are read together. */
  loadRelatedOfEach(
    relation: string,
    rows: readonly Row[],
    options?: TakeOptions,
  ): Promise<Known[]>;
  /**
   * Finds the rows that a `hasMany` relation leads to from a row, in the order of the index that
   * serves the relation.
   */
  listRelated(relation: string, row: Row, options?: ListOptions<Known>): ListQuery<Known>;
}

/**
 * Returns the rows of a model for a generated repository. The caller supplies the types.
 *
 * @param source the database, a scope of it, or rows that `view` has passed.
 * @param modelName the `name` of the model, not its name in the program.
 * @throws {ModelDefinitionError} if the database has no such model.
 * @throws {ScopeError} if the scope does not have it.
 */
export function rowsOf<Row extends object = Known, CreateInput = Known, UpdateInput = Known>(
source: AnyDatabase | Rows, modelName: string): Rows<Row, CreateInput, UpdateInput> {
  if (source instanceof GeneratedRows) return source;
  const context = tableWithin(source, modelName);
  return new GeneratedRows(new Calls(context, "generated"));
}

/**
 * Returns the repositories of the models of a scope.
 *
 * @param scope what `scope` of a database or of a transaction returned, or its `tx`.
 * @param classes the generated repositories of all models.
 */
export function repositoriesWithin(
  scope: object,
  classes: Readonly<Record<string, new (database: AnyDatabase) => unknown>>,
): Known {
  const within = Object.entries(classes).filter(([name]) => Object.hasOwn(scope, name));
  return Object.fromEntries(within.map(([name, Class]) => [name, new Class(scope)]));
}
