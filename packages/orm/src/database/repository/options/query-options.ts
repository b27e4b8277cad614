import type { FieldOf } from "../../../model/indexes/field-types.js";
import type { AnyModels, CreateInput, Model, PrimaryKeyFields, Row } from "../../../model/model.js";
import type { ResultField } from "../../../model/rows/result-row.js";
import type { UpdateInput } from "../../../model/rows/update-input.js";
import type { IndexedField } from "../../../read/types/key-path-types.js";
import type { IndexedWhere, OrderBy, UniqueFields } from "../../../read/types/where-types.js";
import type { Direction } from "../../../state/context/any-query.js";
import type { QueryWhere } from "./filter-types.js";
import type { Include } from "./include-types.js";
import type { CreateData, UpdateData, Without } from "./nested-types.js";
import type { Skip } from "./rank-types.js";
import type {
  CountOptions,
  ReadLimit,
  ReadOptions,
  RowFilterOptions,
  ValueOptions,
} from "./read-options.js";

// The arguments of the methods of a repository, as any call may have them. `call-types.ts` infers
// the argument of one call, and checks it.

/** Determines what is returned of each row. */
export interface ShapeOptions<M extends Model, Models extends AnyModels> {
  /**
   * The fields to return: `{ name: true }`. All fields if absent. The value of each field must be
   * `true`. A type that may be undefined is refused.
   */
  readonly select?: { readonly [F in ResultField<M>]: true } | undefined;
  /** The relations to load: `{ author: true }`, or a query for each relation. */
  readonly include?: Include<M, Models> | undefined;
  /** Return `{ row, versionstamp }` instead of the row. */
  readonly withVersionstamp?: boolean;
}

/** Identifies one row, and determines what is returned of it. */
interface OneRowOptions<M extends Model, Models extends AnyModels> extends ShapeOptions<M, Models> {
  /** Values for all fields of the primary key, or for all fields of a unique index. */
  readonly where: UniqueFields<M>;
}

/** The argument of `findUnique` and `watch`. */
export interface FindUniqueOptions<M extends Model, Models extends AnyModels>
  extends OneRowOptions<M, Models>,
    ReadOptions {}

/** Selects rows by an index. */
export interface RowsOptions<M extends Model, Models extends AnyModels = Record<never, never>>
  extends RowFilterOptions<Row<M>>,
    ReadLimit {
  /**
   * Conditions on the first fields of an index or of the primary key. Each is a value or a list of
   * values, `{ in: [...] }`. The last one can be a range instead: `gt`, `gte`, `lt`, `lte`,
   * `between` (both ends inclusive) or `startsWith`. The condition on a field whose elements are
   * indexed is `{ has: element }`.
   */
  readonly where?: QueryWhere<M, Models> | undefined;
  /**
   * The order, by the fields of the index that come after those with a single value. Either an
   * object with one field, `{ score: "desc" }`, or a list of such objects. An order by a field that
   * rows may lack needs `index`, and leaves those rows out. `leavesOut` in the result of `explain`
   * names such fields.
   */
  readonly orderBy?: OrderBy<M> | readonly OrderBy<M>[] | undefined;
  /** The name of the index to use. Required if the index may lack some of the rows. */
  readonly index?: (keyof M["indexes"] & string) | undefined;
}

/** The argument of `count` and `exists`. */
export interface CountRowsOptions<M extends Model, Models extends AnyModels>
  extends RowsOptions<M, Models>,
    ReadOptions {}

/** Selects rows, and determines what is returned of each of them. */
interface ShapedRowsOptions<M extends Model, Models extends AnyModels>
  extends RowsOptions<M, Models>,
    ShapeOptions<M, Models> {}

/** The argument of `findFirst`. */
export interface FindFirstOptions<M extends Model, Models extends AnyModels>
  extends ShapedRowsOptions<M, Models>,
    ReadOptions {
  /** The cursor of an earlier page of the same query. The result begins after that page. */
  readonly cursor?: string | null | undefined;
}

/** The argument of `watchMany`. */
export interface WatchManyOptions<M extends Model, Models extends AnyModels>
  extends FindFirstOptions<M, Models> {
  /** The maximum number of rows. All rows if absent. */
  readonly take?: number | undefined;
}

/**
 * The argument of `findMany`. `FindManyOptions<typeof User>` is any query of the model that returns
 * whole rows. For this type, the compiler does not check that an index serves the query. It is
 * checked at run time.
 */
export interface FindManyOptions<M extends Model, Models extends AnyModels = Record<never, never>>
  extends WatchManyOptions<M, Models> {
  /**
   * How many rows are left out at the beginning. The index needs `ranked: true`. The reads grow
   * with the logarithm of the number of rows.
   */
  readonly skip?: Skip<M> | undefined;
}

/** The argument of `distinct`. */
export interface DistinctOptions<M extends Model> extends ValueOptions {
  /** The field whose values are returned. */
  readonly field: IndexedField<M> & FieldOf<Row<M>>;
  /** Conditions on the fields of the index before this field, and a range of the field itself. */
  readonly where?: IndexedWhere<M> | undefined;
  /** The name of the index to use. Required if the index may lack some of the rows. */
  readonly index?: (keyof M["indexes"] & string) | undefined;
}

/** The argument of `scan`. */
export interface ScanOptions<M extends Model, Models extends AnyModels>
  extends ShapeOptions<M, Models>,
    CountOptions<Row<M>> {
  /** The direction of the primary key's first field: `{ id: "desc" }`. The default is `"asc"`. */
  readonly orderBy?: { readonly [F in PrimaryKeyFields<M>[0]]: Direction } | undefined;
  /** The maximum number of rows. All rows if absent. */
  readonly take?: number | undefined;
  /** The cursor of an earlier page of the same scan. The result begins after that page. */
  readonly cursor?: string | null | undefined;
}

/** The argument of `create`. */
export interface CreateOptions<M extends Model, Models extends AnyModels>
  extends ShapeOptions<M, Models> {
  /** The fields of the row, and operations on the rows to which its relations lead. */
  readonly data: CreateData<M, Models>;
  /** The lifetime of the row and its index entries in milliseconds. Unlimited if absent. */
  readonly expireIn?: number | undefined;
}

/** The argument of `createMany`. */
export interface CreateManyOptions<M extends Model, Models extends AnyModels>
  extends ShapeOptions<M, Models> {
  readonly data: readonly Without<CreateInput<M>, never>[];
  /** Create all rows in one commit, or none. The default is false. */
  readonly atomic?: boolean;
  /**
   * Leave out rows whose primary key or unique values exist, in the database or earlier in `data`.
   * The default is false.
   */
  readonly skipDuplicates?: boolean | undefined;
  /** The lifetime of the rows and their index entries in milliseconds. Unlimited if absent. */
  readonly expireIn?: number | undefined;
}

/** The argument of `delete`. */
export interface DeleteOptions<M extends Model, Models extends AnyModels>
  extends OneRowOptions<M, Models> {
  /** The versionstamp that the row must have. If it has another one, nothing is written. */
  readonly ifVersion?: string | undefined;
}

/** The argument of `update`. */
export interface UpdateOptions<M extends Model, Models extends AnyModels>
  extends DeleteOptions<M, Models> {
  /** The changes of the row, and operations on the rows to which its relations lead. */
  readonly data: UpdateData<M, Models>;
  /**
   * The lifetime of the row and its index entries in milliseconds, counted from this update. If
   * absent, the row expires when it would have expired before.
   */
  readonly expireIn?: number | undefined;
}

/** The argument of `upsert`. */
export interface UpsertOptions<M extends Model, Models extends AnyModels>
  extends DeleteOptions<M, Models> {
  /** The data of the new row, if the row does not exist. */
  readonly create: CreateData<M, Models>;
  /** The changes, if the row exists. */
  readonly update: UpdateData<M, Models>;
  /**
   * The lifetime of the row and its index entries in milliseconds, counted from this write. If
   * absent, a new row does not expire, and an existing row expires when it would have expired
   * before.
   */
  readonly expireIn?: number | undefined;
}

/** The argument of `deleteMany`. */
export interface DeleteManyOptions<M extends Model, Models extends AnyModels>
  extends ShapedRowsOptions<M, Models> {
  /** The maximum number of rows. All rows if absent. */
  readonly take?: number | undefined;
  /** Write all rows in one commit, or none. The default is false. */
  readonly atomic?: boolean;
}

/** The argument of `updateMany`. */
export interface UpdateManyOptions<M extends Model, Models extends AnyModels>
  extends DeleteManyOptions<M, Models> {
  readonly data: Without<UpdateInput<M>, never>;
  /**
   * The lifetime of the rows and their index entries in milliseconds, counted from this update. If
   * absent, the rows expire when they would have expired before.
   */
  readonly expireIn?: number | undefined;
}
