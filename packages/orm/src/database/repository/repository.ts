import type { FieldOf } from "../../model/index-definition.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { QueryExplanation } from "../../query/read/explain-query.js";
import type { IndexName } from "../../query/types/key-path-types.js";
import type {
  NotGiven,
  Served,
  ServedOrAll,
  ServedOrFiltered,
} from "../../query/types/served-types.js";
import type {
  IndexedWhere,
  NamesRow,
  OrderBy,
  UniqueFields,
} from "../../query/types/where-types.js";
import type { Include } from "./include-types.js";
import type {
  CreateManyOptions,
  CreateOptions,
  DeleteManyOptions,
  DeleteOptions,
  FindFirstOptions,
  FindManyOptions,
  FindUniqueOptions,
  RowsOptions,
  ScanOptions,
  UpdateManyOptions,
  UpdateOptions,
  UpsertOptions,
} from "./query-options.js";
import type { ManyRows, Shaped } from "./result-types.js";
import type { RowQuery } from "./row-query.js";

/** One order, or several in a list. */
type Orders<M extends Model> = OrderBy<M> | readonly OrderBy<M>[];

/**
 * The rows of one model, with the names that Prisma has for what is done with them. `Models` are those of the database,
 * to which relations lead.
 *
 * What a call selects, includes and asks for is inferred into type parameters: W is its `where`, O its `orderBy`, X its
 * `index`, S the names of the fields that it selects, I its `include`, V its `withVersionstamp`, A its `atomic`.
 *
 * Every method may throw `StoredRowInvalidError` for a stored value that is no row of the model, and `ReadLimitError`
 * where it would read more than `maxReads` entries. Every write may throw `StaleSchemaError`, where the database has
 * indexes that this program does not know.
 *
 * What a write includes is loaded when it stands: a relation is null there where its row has been deleted since, whatever its
 * type says. A read that includes rows may throw a retryable `VersionConflictError`, where others keep deleting them.
 */
export interface Repository<in out M extends Model, in out Models extends AnyModels> {
  /**
   * The row that a primary key or the fields of a unique index name, null where there is none. One read by primary key,
   * two by index.
   *
   * @throws {UnindexedQueryError} where the fields are neither.
   * @throws {IndexNotReadyError} where the index is not built.
   */
  findUnique<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindUniqueOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): Promise<Shaped<M, Models, S, I, V> | null>;

  /**
   * The same as `findUnique`, where the row is expected to be there.
   *
   * @throws {RowNotFoundError} where there is none.
   */
  findUniqueOrThrow<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindUniqueOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): Promise<Shaped<M, Models, S, I, V>>;

  /** The first of the rows that `findMany` finds, null where there is none. It throws what `findMany` throws. */
  findFirst<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindFirstOptions<M, Models, W, O, X, S, I, V> & Served<M, W, O, X>,
  ): Promise<Shaped<M, Models, S, I, V> | null>;

  /**
   * The same as `findFirst`, where there is expected to be one.
   *
   * @throws {RowNotFoundError} where there is none.
   */
  findFirstOrThrow<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindFirstOptions<M, Models, W, O, X, S, I, V> & Served<M, W, O, X>,
  ): Promise<Shaped<M, Models, S, I, V>>;

  /**
   * The rows that fit `where` and `filter`, in the order of the index that serves the query: awaited a page of them,
   * `{ items, cursor }`; iterated one after the other, none of them held.
   *
   * An index serves values for its first fields, then one range on the next, and the order behind those with one value. An
   * index that is not unique goes on with the fields of the primary key. What no index serves goes into `filter`, which is
   * called with each row that is read.
   *
   * Each row fits when it is returned. The page as a whole is no snapshot: a row whose place in the index changes while
   * it is read may be left out, or be met again on a later page. So a loop that moves the rows that it gets further ahead in
   * its order never ends: let `updateMany` do it, or go through them in an order that the update does not change.
   *
   * @throws {UnindexedQueryError} where no index serves the query; it suggests one.
   * @throws {InvalidQueryError} for a condition that says nothing, such as bounds without a value.
   * @throws {UnknownIndexError} for the name of an index that the model does not have.
   * @throws {IndexNotReadyError} where the index is not built.
   * @throws {InvalidCursorError} for a cursor of another query.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  findMany<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindManyOptions<M, Models, W, O, X, S, I, V> & Served<M, W, O, X>,
  ): RowQuery<Shaped<M, Models, S, I, V>>;

  /**
   * The rows of the whole model, in the order of the primary key, as a page or one after the other. It reads every row
   * that is not behind the last one returned.
   *
   * @throws {InvalidCursorError} for a cursor of another query.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  scan<
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(options?: ScanOptions<M, Models, S, I, V>): RowQuery<Shaped<M, Models, S, I, V>>;

  /**
   * How many rows there are: of the model, or of a query as `findMany` takes it. One read where the model or the index
   * keeps the number and there is no `filter`; otherwise it reads the entries of the index, or with a `filter` the rows.
   */
  count<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
  >(options?: RowsOptions<M, W, O, X> & ServedOrAll<M, W, O, X>): Promise<number>;

  /** Whether there is a row: of the model, or of a query as `findMany` takes it. */
  exists<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
  >(options?: RowsOptions<M, W, O, X> & ServedOrAll<M, W, O, X>): Promise<boolean>;

  /**
   * How `findMany` would answer a query: by which index, over which keys, with how many reads. It reads no rows. A query
   * that says nothing is a `scan`. It throws what `findMany` throws for a query that it cannot answer.
   */
  explain<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindManyOptions<M, Models, W, O, X, S, I, V> & ServedOrAll<M, W, O, X>,
  ): Promise<QueryExplanation>;

  /**
   * Creates a row and returns it: defaults filled in, a ULID primary key generated where it is absent. One commit.
   *
   * @throws {RowInvalidError} where the schema refuses the data.
   * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
   * @throws {ReferenceMissingError} where it refers to a row that is not there.
   */
  create<
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(options: CreateOptions<M, Models, S, I, V>): Promise<Shaped<M, Models, S, I, V>>;

  /**
   * Creates rows and says of each what became of it. Rows are written in commits of some hundred each, and one that
   * fails does not keep the others from being written; with `atomic: true` all are written in one commit, or none.
   *
   * @throws what `create` throws, with `atomic: true`; otherwise that is in the row's result.
   * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
   */
  createMany<
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
    const A extends boolean = false,
  >(
    options: CreateManyOptions<M, Models, S, I, V, A>,
  ): Promise<ManyRows<Shaped<M, Models, S, I, V>, A>>;

  /**
   * Changes fields of a row and returns it as it is then. One commit, more where others write the row too.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {RowInvalidError} where the schema refuses the changed row.
   * @throws {UniqueConstraintError} where another row has a unique value.
   * @throws {PrimaryKeyChangeError} where the data name another primary key.
   * @throws {ReferenceMissingError} where it refers to a row that is not there.
   * @throws {VersionConflictError} where the row's versionstamp is not `ifVersion`, or others never ceased to change it.
   */
  update<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: UpdateOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): Promise<Shaped<M, Models, S, I, V>>;

  /**
   * Changes the rows of a query, each once, and says of each what became of it. A query without `where` or `index` needs a
   * `filter`. Rows are written in commits of some hundred each, and one that fails does not keep the others from being
   * written; with `atomic: true` all are written in one commit, or none.
   *
   * @throws what `findMany` throws; with `atomic: true` what `update` throws, which otherwise is in the row's result.
   * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
   */
  updateMany<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
    const A extends boolean = false,
  >(
    options: UpdateManyOptions<M, Models, W, O, X, S, I, V, A> & ServedOrFiltered<M, W, O, X>,
  ): Promise<ManyRows<Shaped<M, Models, S, I, V>, A>>;

  /**
   * Changes the row that `where` names, or creates one where there is none, and returns it: one of the two, whatever
   * others do meanwhile. It throws what `update` and `create` throw.
   */
  upsert<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: UpsertOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): Promise<Shaped<M, Models, S, I, V>>;

  /**
   * Removes a row and returns it as it was. What becomes of the rows that refer to it is what the `onDelete` of their
   * relations says.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {RowReferencedError} where another row refers to it and forbids it.
   * @throws {VersionConflictError} where the row's versionstamp is not `ifVersion`, or others never ceased to change it.
   */
  delete<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: DeleteOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): Promise<Shaped<M, Models, S, I, V>>;

  /**
   * Removes the rows of a query, as `updateMany` changes them, and says of each what became of it.
   *
   * @throws what `findMany` throws; with `atomic: true` what `delete` throws, which otherwise is in the row's result.
   * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
   */
  deleteMany<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
    const A extends boolean = false,
  >(
    options: DeleteManyOptions<M, Models, W, O, X, S, I, V, A> & ServedOrFiltered<M, W, O, X>,
  ): Promise<ManyRows<Shaped<M, Models, S, I, V>, A>>;

  /**
   * The row that `where` names, at once and then after each change of it; null while there is none. Changes that come
   * faster than they are read are given as one. Leaving the loop over it, or `cancel()`, ends it.
   */
  watch<
    const W extends UniqueFields<M>,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindUniqueOptions<M, Models, W, S, I, V> & NamesRow<M, W>,
  ): ReadableStream<Shaped<M, Models, S, I, V> | null>;

  /**
   * The rows of a query, at once and then after each change that affects them. Changes that come faster than they are
   * read are given as one. Leaving the loop over it, or `cancel()`, ends it.
   *
   * @throws {LiveQueryUnavailableError} in the stream, where the database does not tell of changes within a range and the
   * model keeps no record of them.
   */
  watchMany<
    const W extends IndexedWhere<M> | undefined = IndexedWhere<M> & NotGiven,
    const O extends Orders<M> | undefined = Orders<M> & NotGiven,
    const X extends IndexName<M> | undefined = never,
    S extends FieldOf<Row<M>> = FieldOf<Row<M>>,
    const I extends Include<M, Models> | undefined = Include<M, Models>,
    const V extends boolean = false,
  >(
    options: FindManyOptions<M, Models, W, O, X, S, I, V> & Served<M, W, O, X>,
  ): ReadableStream<Shaped<M, Models, S, I, V>[]>;
}
