import type { Direction } from "../../context/any-query.js";
import type { FieldOf } from "../../model/index-definition.js";
import type { AnyModels, CreateInput, Model, PrimaryKeyFields, Row } from "../../model/model.js";
import type { UpdateInput } from "../../model/update-input.js";
import type { IndexName } from "../../query/types/key-path-types.js";
import type { IndexedWhere, OrderBy } from "../../query/types/where-types.js";
import type { CheckedInclude, Include } from "./include-types.js";

// What the methods of a repository take. The type parameters that begin with no `M` are what a call wrote, as the
// repository infers them: W is its `where`, O its `orderBy`, X its `index`, S the names of the fields that it selects, I its
// `include`, V its `withVersionstamp`, A its `atomic`. What may be undefined in a call is undefined in W, O, X or I.

/** What is returned of each row. */
export interface ShapeOptions<M extends Model, Models extends AnyModels, S extends string, I, V> {
  /** The fields that are returned, `{ name: true }`; all without it. Each of them surely: an optional one is refused. */
  readonly select?: { readonly [F in S]: true } | undefined;
  /** The relations that are loaded: `{ author: true }`, or a query for each of them. */
  readonly include?: I & CheckedInclude<M, Models, NoInfer<I>>;
  /** Return `{ row, versionstamp }` for each row. */
  readonly withVersionstamp?: V;
}

/** What names one row, and what is returned of it. */
interface OneRowOptions<M extends Model, Models extends AnyModels, W, S extends string, I, V>
  extends ShapeOptions<M, Models, S, I, V> {
  /** Values for the fields of the primary key, or for those of a unique index. */
  readonly where: W;
}

/** What `findUnique` and `watch` take. */
export interface FindUniqueOptions<
  M extends Model,
  Models extends AnyModels,
  W,
  S extends string,
  I,
  V,
> extends OneRowOptions<M, Models, W, S, I, V> {
  /** Entries that may be read at the most; of the database where it is absent. */
  readonly maxReads?: number | undefined;
}

/** Which rows are meant, as an index serves it. */
export interface RowsOptions<M extends Model, W, O, X> {
  /**
   * Values, or lists `{ in: [...] }`, for the first fields of an index or of the primary key, then one range on the next:
   * `gt gte lt lte`, `between` (inclusive), `startsWith`. Of an array `{ has: element }`.
   */
  readonly where?: W;
  /** The fields behind those with one value: one in an object, or several in a list of such objects. */
  readonly orderBy?: O;
  /** The index to use, also where it holds some of the rows only. */
  readonly index?: X;
  /** Which of the rows that are read are meant. */
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** Entries that may be read at the most; of the database where it is absent. */
  readonly maxReads?: number | undefined;
}

/** Which rows are meant, and what is returned of each of them. */
interface ShapedRowsOptions<
  M extends Model,
  Models extends AnyModels,
  W,
  O,
  X,
  S extends string,
  I,
  V,
> extends RowsOptions<M, W, O, X>,
    ShapeOptions<M, Models, S, I, V> {}

/** What `findFirst` takes: which rows are meant, and what is returned of the first of them. */
export interface FindFirstOptions<
  M extends Model,
  Models extends AnyModels,
  W,
  O,
  X,
  S extends string,
  I,
  V,
> extends ShapedRowsOptions<M, Models, W, O, X, S, I, V> {
  /** Where an earlier page of the same query ended. */
  readonly cursor?: string | null | undefined;
}

/**
 * What `findMany` takes: which rows are meant, how many at once, and what is returned of each. `FindManyOptions<typeof
 * User>` is any query of the model that returns whole rows; whether an index serves it is found out at run time then.
 */
export interface FindManyOptions<
  M extends Model,
  Models extends AnyModels = Record<never, never>,
  W = IndexedWhere<M> | undefined,
  O = OrderBy<M> | readonly OrderBy<M>[] | undefined,
  X = IndexName<M> | undefined,
  S extends string = FieldOf<Row<M>>,
  I = Include<M, Models> | undefined,
  V = boolean,
> extends FindFirstOptions<M, Models, W, O, X, S, I, V> {
  /** Rows at the most; all of them without it. */
  readonly take?: number | undefined;
}

/** What `scan` takes. */
export interface ScanOptions<M extends Model, Models extends AnyModels, S extends string, I, V>
  extends ShapeOptions<M, Models, S, I, V> {
  /** Which of the rows that are read are returned. */
  readonly filter?: ((row: Row<M>) => boolean) | undefined;
  /** Of the primary key's first field: from the first row to the last without it. */
  readonly orderBy?: { readonly [F in PrimaryKeyFields<M>[0]]: Direction } | undefined;
  /** Rows at the most; all of them without it. */
  readonly take?: number | undefined;
  /** Where an earlier page of the same scan ended. */
  readonly cursor?: string | null | undefined;
  /** Rows that may be read at the most; of the database where it is absent. */
  readonly maxReads?: number | undefined;
}

/** What `create` takes. */
export interface CreateOptions<M extends Model, Models extends AnyModels, S extends string, I, V>
  extends ShapeOptions<M, Models, S, I, V> {
  readonly data: CreateInput<M>;
  /** For how long the row and its index entries are there, in milliseconds. */
  readonly expireIn?: number | undefined;
}

/** What `createMany` takes. */
export interface CreateManyOptions<
  M extends Model,
  Models extends AnyModels,
  S extends string,
  I,
  V,
  A,
> extends ShapeOptions<M, Models, S, I, V> {
  readonly data: readonly CreateInput<M>[];
  /** All rows in one commit, or none. */
  readonly atomic?: A;
  /** For how long the rows and their index entries are there, in milliseconds. */
  readonly expireIn?: number | undefined;
}

/** What `delete` takes. */
export interface DeleteOptions<M extends Model, Models extends AnyModels, W, S extends string, I, V>
  extends OneRowOptions<M, Models, W, S, I, V> {
  /** The versionstamp that the row must have. */
  readonly ifVersion?: string | undefined;
}

/** What `update` takes. */
export interface UpdateOptions<M extends Model, Models extends AnyModels, W, S extends string, I, V>
  extends DeleteOptions<M, Models, W, S, I, V> {
  readonly data: UpdateInput<M>;
  /** For how long the row and its index entries are there from now on, in milliseconds; as before without it. */
  readonly expireIn?: number | undefined;
}

/** What `upsert` takes. */
export interface UpsertOptions<M extends Model, Models extends AnyModels, W, S extends string, I, V>
  extends DeleteOptions<M, Models, W, S, I, V> {
  /** The row that is created where there is none. */
  readonly create: CreateInput<M>;
  /** What is changed of the row that is there. */
  readonly update: UpdateInput<M>;
  /** For how long the row and its index entries are there, in milliseconds. */
  readonly expireIn?: number | undefined;
}

/** What `deleteMany` takes. */
export interface DeleteManyOptions<
  M extends Model,
  Models extends AnyModels,
  W,
  O,
  X,
  S extends string,
  I,
  V,
  A,
> extends ShapedRowsOptions<M, Models, W, O, X, S, I, V> {
  /** Rows at the most; all of them without it. */
  readonly take?: number | undefined;
  /** All rows in one commit, or none. */
  readonly atomic?: A;
}

/** What `updateMany` takes. */
export interface UpdateManyOptions<
  M extends Model,
  Models extends AnyModels,
  W,
  O,
  X,
  S extends string,
  I,
  V,
  A,
> extends DeleteManyOptions<M, Models, W, O, X, S, I, V, A> {
  readonly data: UpdateInput<M>;
  /** For how long the rows and their index entries are there from now on, in milliseconds; as before without it. */
  readonly expireIn?: number | undefined;
}
