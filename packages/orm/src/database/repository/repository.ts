import type { AnyModels, Model, Row } from "../../model/model.js";
import type { ResultRow } from "../../model/rows/result-row.js";
import type { QueryExplanation } from "../../read/find/explain-query.js";
import type { SearchExplanation } from "../../read/search/explain-search.js";
import type { Page } from "../../state/context/page.js";
import type { PurgeResult } from "../../write/deleted/purge-rows.js";
import type { AggregateOptions, GroupByOptions } from "./aggregate-types.js";
import type {
  AggregateChecks,
  AnyOptions,
  AtomicOf,
  ByOf,
  Call,
  CountChecks,
  DistinctChecks,
  DistinctField,
  FindManyCallOptions,
  FindUniqueCallOptions,
  GroupByChecks,
  GroupOf,
  QueryChecks,
  RankIndex,
  RowChecks,
  ScanCallOptions,
  SearchChecks,
  ShapeChecks,
  ShapedBy,
  TotalsOf,
  WriteChecks,
} from "./call-types.js";
import type {
  ChangesOptions,
  HistoryOptions,
  RestoreRowOptions,
  RowCommit,
  RowVersion,
} from "./history-types.js";
import type {
  CountRowsOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteManyOptions,
  DeleteOptions,
  DistinctOptions,
  FindFirstOptions,
  FindManyOptions,
  FindUniqueOptions,
  UpdateManyOptions,
  UpdateOptions,
  UpsertOptions,
  WatchManyOptions,
} from "./options/query-options.js";
import type { RankOptions } from "./options/rank-types.js";
import type { PurgeOptions, RestoreOptions } from "./options/soft-delete-types.js";
import type { CreatedRows, ManyRows } from "./results/result-types.js";
import type { RowQuery } from "./row-reads.js";
import type { SearchOptions, SearchPage } from "./search-types.js";

/**
 * The rows of one model. `Models` are the models of the database, to which relations refer.
 *
 * T are the options of a call. `Checks` is not inferred: it is what T has to meet.
 *
 * These errors are possible in addition to those that are listed for each method:
 *
 * - `InvalidArgumentError` if an argument or an option is not valid.
 * - `StoredRowInvalidError` if a stored value is not a row of the model.
 * - `RowUpgradeError` if a row has an earlier schema and cannot be upgraded.
 * - `ReadLimitError` if a query needs to read more than `maxReads` entries.
 * - `StaleSchemaError` from writes if the database maintains something, such as an index, that this
 *   program's models lack.
 * - `SchemaNotMigratedError` from writes if the database does not have this program's schema yet.
 * - `VersionConflictError` (retryable) from reads with `include` if others keep deleting the rows
 *   that are read.
 *
 * The relations that a write includes are loaded after its commit. If a related row has been
 * deleted by then, the relation is null, even if its type does not allow null. `delete` is
 * different: it loads them before the deletion.
 */
// Of an interface, editors show the name with all type arguments before the name of each method.
export type Repository<in out M extends Model, in out Models extends AnyModels> = {
  /**
   * Returns the row that a primary key or the fields of a unique index identify, or null if there
   * is none. Costs one read by primary key, and two by index.
   *
   * @throws {UnindexedQueryError} if the fields of `where` are neither a primary key nor those of a
   * unique index.
   * @throws {InvalidQueryError} if a value is not one that the field can have.
   * @throws {IndexNotReadyError} if the index is not built.
   */
  findUnique<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindUniqueCallOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T> | null>;

  /**
   * Like `findUnique`.
   *
   * @throws {RowNotFoundError} if there is no such row.
   */
  findUniqueOrThrow<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindUniqueCallOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Returns the first of the rows that `findMany` finds, or null if there is none.
   *
   * @throws the errors of `findMany`.
   */
  findFirst<const T extends AnyOptions, Checks = QueryChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindFirstOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T> | null>;

  /**
   * Like `findFirst`.
   *
   * @throws {RowNotFoundError} if there is no such row.
   */
  findFirstOrThrow<const T extends AnyOptions, Checks = QueryChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindFirstOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Finds the rows that match `where` and `filter`, in the order of the index that serves the
   * query. If the result is awaited, it is a page: `{ items, cursor }`. If it is iterated with
   * `for await`, it returns one row after another and does not hold them in memory.
   *
   * An index serves values for its first fields, then a range of the next field. It serves an order
   * by the fields that follow those with a single value. If the index is not unique, the fields of
   * the primary key come after its own fields. Put other conditions into `filter`, which is called
   * with each row that is read.
   *
   * A page is read from one state of the database, and so is each batch of a loop. If the position
   * of a row in the index changes during the query, the row may be left out, or returned again on a
   * later page. A loop that moves each row forward in the order of the query therefore never ends.
   * Use `updateMany` for this, or an order that the update does not change.
   *
   * @throws {UnindexedQueryError} if no index serves the query. The error suggests one.
   * @throws {InvalidQueryError} if a condition is empty or not valid, such as a range without
   * bounds.
   * @throws {UnknownIndexError} if the model has no index with the name in `index`.
   * @throws {IndexNotReadyError} if the index is not built.
   * @throws {InvalidCursorError} if the cursor belongs to another query.
   * @throws {InvalidArgumentError} if `take` is not a positive integer, or if `skip` is not an
   * integer, or is used with `cursor` or `filter`.
   */
  findMany<const T extends AnyOptions, Checks = QueryChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindManyCallOptions<M, Models>, T>,
  ): RowQuery<ShapedBy<M, Models, T>>;

  /**
   * Finds the rows whose texts match what a person has typed, the best first: see the option
   * `query`. The model needs a full-text index: `indexes: { search: { text: ["title", "body"] } }`.
   *
   * Scores are those of BM25, with the weights of the index. Rows with the same score come in the
   * order of their primary key. The next pages of a search use the statistics of the first, so that
   * rows keep their scores while others write.
   *
   * @throws {UnknownIndexError} if the model has no full-text index of this name.
   * @throws {IndexNotReadyError} if the index is not built.
   * @throws {InvalidQueryError} if `where` is not a value of each field of its key.
   * @throws {InvalidCursorError} if the cursor belongs to another search.
   * @throws {InvalidArgumentError} if `take` is not a positive integer.
   */
  search<const T extends AnyOptions, Checks = SearchChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<SearchOptions<M, Models>, T>,
  ): Promise<SearchPage<ShapedBy<M, Models, T>>>;

  /**
   * Returns how `search` would answer a query: the words that it looks for, the parts of the index
   * in which it looks, and about how many entries it reads. Reads no rows.
   *
   * @throws the errors of `search` if the query cannot be answered.
   */
  explainSearch<const T extends AnyOptions, Checks = SearchChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<SearchOptions<M, Models>, T>,
  ): Promise<SearchExplanation>;

  /**
   * Finds all rows of the model in the order of the primary key. Like `findMany`, it returns a page
   * or one row after another. It reads every row up to the last one that it returns, including
   * those that `filter` refuses.
   *
   * @throws {InvalidCursorError} if the cursor belongs to another query.
   * @throws {InvalidArgumentError} if `take` is not a positive integer.
   */
  scan<const T extends AnyOptions, Checks = ShapeChecks<M, Models, T>>(
    options?: NoInfer<Checks> & Call<ScanCallOptions<M, Models>, T>,
  ): RowQuery<ShapedBy<M, Models, T>>;

  /**
   * Returns the number of rows of the model, or of a query like that of `findMany`. Costs one read
   * if the model or the index keeps the count and there is no `filter`. Otherwise it reads the
   * index entries, and with a `filter` also the rows.
   *
   * @throws the errors of `findMany`.
   */
  count<const T extends AnyOptions, Checks = CountChecks<M, Models, T>>(
    options?: NoInfer<Checks> & Call<CountRowsOptions<M, Models>, T>,
  ): Promise<number>;

  /**
   * Returns the number of rows, and sums, means, minima and maxima of their fields. The model or an
   * index must maintain them: see `sum`, `min`, `max` and `count` in the definition of an index.
   * Costs one read for each key of the index that has the values of `where`, and for each sum. It
   * reads no row except one for each minimum and maximum.
   *
   * The result is exact for each key of the index. If it adds up several keys, writes that are made
   * at the same time may be in some of them and not yet in others.
   *
   * @throws {UnindexedQueryError} if no index maintains the aggregates. The error suggests one.
   * @throws {InvalidQueryError} if a condition is not valid, or if a sum of numbers is larger than
   * a number can hold exactly.
   * @throws {UnknownIndexError} if the model has no index with the name in `index`.
   * @throws {IndexNotReadyError} if the aggregates are not built.
   */
  aggregate<const T extends AnyOptions, Checks = AggregateChecks<M, T>>(
    options: NoInfer<Checks> & Call<AggregateOptions<M>, T>,
  ): Promise<TotalsOf<M, T>>;

  /**
   * Returns the same as `aggregate` for each combination of values of the fields in `by`, sorted by
   * these fields. `by` names fields of an index that come after those with a single value in
   * `where`. Rows that lack one of the fields are in no group.
   *
   * @throws the errors of `aggregate`.
   * @throws {InvalidArgumentError} if `by`, `orderBy` or `take` is not valid.
   */
  groupBy<const T extends AnyOptions, Checks = GroupByChecks<M, T>>(
    options: NoInfer<Checks> & Call<GroupByOptions<M, ByOf<M, T>, TotalsOf<M, T>>, T>,
  ): Promise<readonly GroupOf<M, T>[]>;

  /**
   * Returns how many rows precede a row in the order of a ranked index, so that the first row has
   * rank 0. Null if the row does not exist, or is not in the index. The reads grow with the
   * logarithm of the number of rows. To find the row that has a rank, use `skip` of `findMany`.
   *
   * Writes that are made at the same time may be counted or not.
   *
   * @throws {UnindexedQueryError} if the index is not ranked.
   * @throws {UnknownIndexError} if the model has no index with the name in `index`.
   * @throws {IndexNotReadyError} if the ranks are not built.
   */
  rank<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<RankOptions<M, RankIndex<M, T>>, T>,
  ): Promise<number | null>;

  /**
   * Returns the values of a field, each of them once, in the order of an index: the colors that any
   * user likes, or the months in which a customer has orders. The field is the first of the index
   * after those with a single value in `where`. Rows that lack the field have no value.
   *
   * Costs two reads for each value, or one if the index contains the field by `include`. The number
   * of rows does not matter. If the index normalizes the field, values that it maps to the same key
   * count as one, and the one of the first row is returned.
   *
   * @throws the errors of `findMany`, for a query that is ordered by the field.
   * @throws {InvalidArgumentError} if `where` has a condition on the field that is no range.
   */
  distinct<const T extends AnyOptions, Checks = DistinctChecks<M, T>>(
    options: NoInfer<Checks> & Call<DistinctOptions<M>, T>,
  ): Promise<NonNullable<Row<M>[DistinctField<M, T>]>[]>;

  /**
   * Returns whether the model, or a query like that of `findMany`, has any rows.
   *
   * @throws the errors of `findMany`.
   */
  exists<const T extends AnyOptions, Checks = CountChecks<M, Models, T>>(
    options?: NoInfer<Checks> & Call<CountRowsOptions<M, Models>, T>,
  ): Promise<boolean>;

  /**
   * Returns how `findMany` would answer a query: the index, the ranges of keys and the number of
   * reads. Reads no rows.
   *
   * @throws the errors of `findMany` if the query cannot be answered.
   */
  explain<const T extends AnyOptions, Checks = QueryChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindManyOptions<M, Models>, T>,
  ): Promise<QueryExplanation>;

  /**
   * Creates a row and returns it with its defaults. If the primary key is absent, a ULID is
   * generated. The data can also create and connect related rows: `posts: { create: [...] }`. One
   * commit.
   *
   * @throws {RowInvalidError} if the schema refuses the data.
   * @throws {UniqueConstraintError} if another row has the same primary key or unique value.
   * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
   * @throws {RowNotFoundError} if a row to connect does not exist.
   * @throws {LimitExceededError} if the related rows do not fit into one commit.
   */
  create<const T extends AnyOptions, Checks = ShapeChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<CreateOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Creates rows and returns the result of each. A commit contains up to about 100 rows, and a row
   * that fails does not prevent the others from being created. With `atomic: true`, all rows are
   * created in one commit, or none. With `skipDuplicates: true`, rows whose primary key or unique
   * values exist are left out and counted in `skipped`.
   *
   * @throws the errors of `create` if `atomic` is true. Otherwise they are in the result of the
   * row.
   * @throws {LimitExceededError} if `atomic` is true and there are more rows than one commit
   * accepts. Nothing is written.
   */
  createMany<const T extends AnyOptions, Checks = ShapeChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<CreateManyOptions<M, Models>, T>,
  ): Promise<CreatedRows<ShapedBy<M, Models, T>, AtomicOf<T>>>;

  /**
   * Changes fields of a row and returns the changed row. The data can also write related rows:
   * `posts: { create: [...], delete: [...] }`. One commit. If others write the row at the same
   * time, the update is tried again.
   *
   * @throws {RowNotFoundError} if there is no such row, or no such related row.
   * @throws {ReferenceRequiredError} if a related row would lose a reference that cannot be empty.
   * @throws {LimitExceededError} if the related rows do not fit into one commit.
   * @throws {RowInvalidError} if the schema refuses the changed row.
   * @throws {UniqueConstraintError} if another row has the same unique value.
   * @throws {PrimaryKeyChangeError} if the data contains another primary key.
   * @throws {ReferenceMissingError} if the row refers to a row that does not exist.
   * @throws {VersionConflictError} if the row's versionstamp is not `ifVersion`, or if others have
   * changed the row in each of a hundred attempts.
   */
  update<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<UpdateOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Changes the rows of a query, each of them once, and returns the result of each. A query without
   * `where` and `index` needs a `filter`. A commit contains up to about 100 rows, and a row that
   * fails does not prevent the others from being changed. With `atomic: true`, all rows are changed
   * in one commit, or none.
   *
   * @throws the errors of `findMany`.
   * @throws the errors of `update` if `atomic` is true. Otherwise they are in the result of the
   * row.
   * @throws {LimitExceededError} if `atomic` is true and there are more rows than one commit
   * accepts. Nothing is written.
   */
  updateMany<const T extends AnyOptions, Checks = WriteChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<UpdateManyOptions<M, Models>, T>,
  ): Promise<ManyRows<ShapedBy<M, Models, T>, AtomicOf<T>>>;

  /**
   * Changes the row that `where` identifies, or creates it if it does not exist, and returns the
   * row. Exactly one of the two happens, even if others create or delete the row at the same time.
   * `ifVersion` applies only if the row exists.
   *
   * @throws the errors of `update` and `create`.
   */
  upsert<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<UpsertOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Deletes a row and returns it as it was before. The `onDelete` of each relation to the model
   * determines what happens to the rows that refer to it.
   *
   * @throws {RowNotFoundError} if there is no such row.
   * @throws {RowReferencedError} if another row refers to it and prevents the deletion.
   * @throws {VersionConflictError} if the row's versionstamp is not `ifVersion`, or if others have
   * changed the row in each of a hundred attempts.
   */
  delete<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<DeleteOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Deletes the rows of a query and returns the result of each. A query without `where` and `index`
   * needs a `filter`. If relations refer to the model, each row is deleted on its own. Otherwise a
   * commit contains up to about 100 rows. With `atomic: true`, all rows are deleted in one commit,
   * or none.
   *
   * @throws the errors of `findMany`.
   * @throws the errors of `delete` if `atomic` is true. Otherwise they are in the result of the
   * row.
   * @throws {LimitExceededError} if `atomic` is true and there are more rows than one commit
   * accepts. Nothing is written.
   */
  deleteMany<const T extends AnyOptions, Checks = WriteChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<DeleteManyOptions<M, Models>, T>,
  ): Promise<ManyRows<ShapedBy<M, Models, T>, AtomicOf<T>>>;

  /**
   * Clears the mark of a row that `delete` has marked, and returns the row. The model must have
   * `softDelete`. A row that is not marked is returned as it is. No hook is called.
   *
   * Rows that were marked together with it stay marked. With `cascade: true`, exactly these are
   * restored too, in one commit if it accepts all of them. Otherwise the row comes first, and a
   * call that was interrupted is called again to restore the rest.
   *
   * @throws {RowNotFoundError} if there is no such row.
   * @throws {UniqueConstraintError} if another row has taken one of its unique values.
   * @throws {ReferenceMissingError} if the row refers to a row that does not exist or is deleted.
   * @throws {VersionConflictError} if the row's versionstamp is not `ifVersion`.
   * @throws {IndexNotReadyError} if `cascade` is true, and `migrate` has not built the indexes of
   * the marked rows.
   */
  restore<const T extends AnyOptions, Checks = ShapeChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<RestoreOptions<M, Models>, T>,
  ): Promise<ShapedBy<M, Models, T>>;

  /**
   * Removes rows that `delete` has marked: one by its primary key, or those that were deleted
   * before a time, oldest first. The model must have `softDelete`. It reads only marked rows. A
   * commit contains up to about 100 rows, or one if relations refer to the model. If the call is
   * interrupted, call it again. No hook is called.
   *
   * @returns how many rows were removed, and the errors of rows that could not be removed.
   * @throws {RowNotFoundError} if `where` names no row, or one that is not marked.
   * @throws {IndexNotReadyError} if `migrate` has not built the index of the marked rows.
   */
  purge(options: PurgeOptions<M>): Promise<PurgeResult>;

  /**
   * Returns the commits of the log that have changed rows of the model, in their order, each with
   * the rows before and after it. First those that the log has, then further ones as they come. The
   * database must keep a log: see `log` of `openKv`.
   *
   * With `where` or `filter`, and within a scope, only rows that meet the conditions are seen: one
   * that begins to meet them is a `"create"`, and one that no longer does a `"delete"`. A deletion
   * that marks a row is an `"update"` that sets the mark.
   *
   * @throws {LogOffError} if the database keeps no log.
   * @throws {LogTruncatedError} if the log no longer has all commits after `after`.
   * @throws {LogUnavailableError} if the database cannot keep a log, as Deno KV.
   */
  changes(options?: ChangesOptions<M>): AsyncIterableIterator<RowCommit<M>>;

  /**
   * Returns the versions of a row that the log has, newest first, with the commits that made them.
   * Two reads for each version: an entry names the commit that has set it, and the commit has what
   * was there before. If the row does not exist, the log is read backwards to its deletion, up to
   * `maxScan` commits. A page with a `cursor` may have fewer versions than `take`.
   *
   * @throws {InvalidCursorError} if the cursor is not that of a page of versions.
   * @throws {LogOffError} if the database keeps no log.
   * @throws {LogUnavailableError} if the database cannot keep a log, as Deno KV.
   */
  history(options: HistoryOptions<M>): Promise<Page<RowVersion<M>>>;

  /**
   * Writes a version of a row that `history` has returned as its newest one, and returns the row.
   * If the row was deleted, it is created again. Its unique values and its references are checked
   * like those of a new row. It expires when it did before. No hook is called.
   *
   * @throws {RowVersionNotFoundError} if the log has no version of the row with the versionstamp.
   * @throws {StoredRowInvalidError} if the version does not fit the schema.
   * @throws {RowInvalidError} if the version is marked as deleted.
   * @throws {UniqueConstraintError} if another row has taken one of its unique values.
   * @throws {ReferenceMissingError} if it refers to a row that does not exist.
   * @throws {VersionConflictError} if the row's versionstamp is not `ifVersion`.
   */
  restoreRow(options: RestoreRowOptions<M>): Promise<ResultRow<M>>;

  /**
   * Returns a stream of the row that `where` identifies, or null while there is none. It begins
   * with the current row and continues after each change. If changes come faster than the stream is
   * read, several are reported as one. To end the stream, leave the loop over it or call
   * `cancel()`.
   *
   * @throws the errors of `findUnique`, some of them only in the stream.
   */
  watch<const T extends AnyOptions, Checks = RowChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<FindUniqueOptions<M, Models>, T>,
  ): ReadableStream<ShapedBy<M, Models, T> | null>;

  /**
   * Returns a stream of the rows of a query. It begins with the current rows and continues after
   * each change that affects them. If changes come faster than the stream is read, several are
   * reported as one. To end the stream, leave the loop over it or call `cancel()`.
   *
   * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and the model, or one
   * that the query includes, is not `live: true`.
   * @throws the errors of `findMany`, some of them only in the stream.
   */
  watchMany<const T extends AnyOptions, Checks = QueryChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<WatchManyOptions<M, Models>, T>,
  ): ReadableStream<ShapedBy<M, Models, T>[]>;

  /**
   * Returns a stream of a page of `search`. It begins with the current page and continues after
   * each change of its rows, of their order, or of how many rows match. A change of scores alone is
   * not reported. If changes come faster than the stream is read, several are reported as one. To
   * end the stream, leave the loop over it or call `cancel()`.
   *
   * @throws {LiveQueryUnavailableError} if the database cannot watch ranges and the model, or one
   * that the search includes, is not `live: true`.
   * @throws the errors of `search`, some of them only in the stream.
   */
  watchSearch<const T extends AnyOptions, Checks = SearchChecks<M, Models, T>>(
    options: NoInfer<Checks> & Call<SearchOptions<M, Models>, T>,
  ): ReadableStream<SearchPage<ShapedBy<M, Models, T>>>;
};
