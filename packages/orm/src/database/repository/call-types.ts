import type { OptionAdvice } from "../../errors/option-advice.js";
import type { FieldOf } from "../../model/indexes/field-types.js";
import type { AnyModels, Model, Row } from "../../model/model.js";
import type { ResultField } from "../../model/rows/result-row.js";
import type { UnknownOption } from "../../model/type-errors.js";
import type { KeyOfEach } from "../../read/types/form-types.js";
import type { IndexedField, IndexName } from "../../read/types/key-path-types.js";
import type { Served, ServedOrAll, ServedOrFiltered } from "../../read/types/served-types.js";
import type { NamesRow } from "../../read/types/where-types.js";
import type {
  Aggregated,
  AggregateResult,
  GroupByOptions,
  GroupResult,
} from "./aggregate-types.js";
import type { ServedByAll } from "./options/filter-types.js";
import type { CheckedInclude } from "./options/include-types.js";
import type {
  CreateManyOptions,
  DistinctOptions,
  FindManyOptions,
  FindUniqueOptions,
  ScanOptions,
  UpsertOptions,
} from "./options/query-options.js";
import type { DeletedOption, Listed, RestoreOptions } from "./options/soft-delete-types.js";
import type { Shaped } from "./results/result-types.js";
import type { AlwaysSelected } from "./results/shape-types.js";
import type { SearchOptions, SearchServed } from "./search-types.js";

// A method of a repository infers one type from its argument: T, the options of the call. Its
// result is a type of T. Its second type parameter is never inferred. Its default has the further
// checks of the call, which the compiler evaluates once, when it knows T.
//
// A parameter is `NoInfer<Checks> & Call<...>`, so that messages begin with what is wrong. The
// checks are conditional types, because messages show only the names of other types.

/** The options of a call. `Call` says which there are, and which values they can have. */
export interface AnyOptions {
  readonly where?: unknown;
  readonly orderBy?: unknown;
  readonly index?: unknown;
  readonly include?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: an interface is no object of unknown values.
  readonly [option: string]: any;
}

/** No options, no conditions, or no models. */
type None = Record<never, never>;

/**
 * Options of a method, options of a call → the argument of the call. `where`, `orderBy`,
 * `index` and `include` keep the type that they have in the call, for messages of the checks. An
 * option that the method does not have gets a type error.
 *
 * Of the options that the call lacks, the type has only those that are required, so that editors
 * have room to show the result.
 */
export type Call<Options, T> = {
  readonly [K in keyof T]: K extends keyof Options
    ? K extends Kept
      ? Fitting<T[K], Options[K]> & Literal<T[K]>
      : OptionValue<Options, K>
    : string extends K
      ? unknown
      : UnknownOption<K, OptionAdvice<K, keyof Options>>;
} & (string extends keyof T
  ? { readonly [K in keyof Options]: K extends Kept ? unknown : OptionValue<Options, K> }
  : keyof Options & (keyof T | Needed) extends infer Names extends keyof Options
    ? { readonly [K in Names]: unknown } & OtherOptions
    : never);

/** The options that some methods require. */
type Needed = "query" | "where" | "data" | "create" | "update" | "index" | "by" | "field";

/**
 * Allows options that T lacks. For `isShort ? { data, expireIn: 1 } : { data }`, the compiler
 * infers an object with `data` only.
 */
type OtherOptions = {
  readonly [K in
    | keyof FindManyCallOptions<Model, AnyModels>
    | keyof CreateManyOptions<Model, AnyModels>
    | keyof UpsertOptions<Model, AnyModels>
    | keyof RestoreOptions<Model, AnyModels>
    | keyof DistinctOptions<Model>
    | keyof SearchOptions<Model, AnyModels>
    | keyof GroupByOptions<Model, [], None>]?: unknown;
};

/** Options of a method, one of them → its type. Fields that are not selected are left out. */
type OptionValue<Options, K extends keyof Options> = K extends "select"
  ? Partial<NonNullable<Options[K]>> | undefined
  : Options[K];

type Kept = "where" | "orderBy" | "index" | "include";

/**
 * Type of a call, declared type → the first if it fits, otherwise the second, which is reported.
 */
type Fitting<T, Declared> = T extends Declared ? T : Declared;

/**
 * Any value. While the compiler infers T, it makes the literal types of values stay, also within
 * conditional expressions: `yes ? { score: "asc" } : { id: "asc" }`.
 */
type Literal<T> = [T] extends [symbol] ? T : NonNullable<unknown> | null | undefined;

/** Options of a call, name, type if it is absent → the type of the option. */
type Option<T, Name extends string, Absent> = string extends keyof T
  ? Absent
  : Name extends keyof T
    ? T[Name]
    : Absent;

/** Model, options → the row that a method returns. */
export type ShapedBy<M extends Model, Models extends AnyModels, T> = Shaped<
  M,
  Models,
  SelectedField<M, Option<T, "select", undefined>>,
  Option<T, "include", None>,
  Option<T, "withVersionstamp", false>
>;

/** Model, `select` → the fields that are certainly returned. */
type SelectedField<M extends Model, S> = [S] extends [undefined]
  ? ResultField<M>
  : AlwaysSelected<Exclude<S, undefined>>;

/** Options of a call → its `atomic`. */
export type AtomicOf<T> = Option<T, "atomic", false>;

/** Model, models, options → unknown, or type errors in `include` and `select`. */
export type ShapeChecks<M extends Model, Models extends AnyModels, T> = ("include" extends keyof T
  ? { readonly include?: CheckedInclude<M, Models, T["include"]> }
  : unknown) &
  SureFields<T, "select">;

/**
 * Options of a call, names of some of them → type errors for fields in these options that may be
 * undefined, so that the result would not be known.
 */
type SureFields<T, Names extends string> = [Names & keyof T] extends [never]
  ? unknown
  : {
      readonly [N in Names & keyof T]?: string extends keyof T
        ? unknown
        : [Exclude<KeyOfEach<Given<T[N]>>, AlwaysSelected<Given<T[N]>>>] extends [never]
          ? unknown
          :
              | { readonly [F in KeyOfEach<Given<T[N]>>]: true }
              | (N extends "select" ? undefined : never);
    };

type Given<T> = Exclude<T, undefined>;

/** The checks of a method that finds one row. */
export type RowChecks<M extends Model, Models extends AnyModels, T> = [T] extends [unknown]
  ? NamesRow<ListedBy<M, T>, Option<T, "where", None>> & ShapeChecks<M, Models, T>
  : never;

/** The checks of a method that finds rows by an index. */
export type QueryChecks<M extends Model, Models extends AnyModels, T> = [T] extends [unknown]
  ? ServedByAll<
      ListedBy<M, T>,
      Models,
      WhereOf<T>,
      OrderOf<T>,
      IndexOf<M, T>,
      Served<ListedBy<M, T>, WhereOf<T>, OrderOf<T>, IndexOf<M, T>>
    > &
      ShapeChecks<M, Models, T>
  : never;

/** The same for a method that takes all rows of the model if no query is given. */
export type CountChecks<M extends Model, Models extends AnyModels, T> = ServedByAll<
  M,
  Models,
  WhereOf<T>,
  OrderOf<T>,
  IndexOf<M, T>,
  ServedOrAll<M, WhereOf<T>, OrderOf<T>, IndexOf<M, T>>
>;

/** The same for a method that requires a `filter` for this. */
export type WriteChecks<M extends Model, Models extends AnyModels, T> = [T] extends [unknown]
  ? ServedByAll<
      M,
      Models,
      WhereOf<T>,
      OrderOf<T>,
      IndexOf<M, T>,
      ServedOrFiltered<M, WhereOf<T>, OrderOf<T>, IndexOf<M, T>>
    > &
      ShapeChecks<M, Models, T>
  : never;

/** The checks of `search`. */
export type SearchChecks<M extends Model, Models extends AnyModels, T> = [T] extends [unknown]
  ? SearchServed<M, WhereOf<T>, Exclude<Option<T, "index", never>, undefined>> &
      ShapeChecks<M, Models, T>
  : never;

/** Model, options of a call → the model, without its indexes if deleted rows are read too. */
type ListedBy<M extends Model, T> = Listed<M, Option<T, "withDeleted", false>>;

type WhereOf<T> = Objects<Option<T, "where", None>>;
type OrderOf<T> = Objects<Option<T, "orderBy", None>>;

/** Type of an option → the same if it can be a query. Another type is reported by itself. */
type Objects<T> = T extends object | null | undefined ? T : Record<string, unknown>;

type IndexOf<M extends Model, T> = Fitting<Option<T, "index", never>, IndexName<M> | undefined>;

/** Options that read one row, also if it is marked as deleted. */
export interface FindUniqueCallOptions<M extends Model, Models extends AnyModels>
  extends FindUniqueOptions<M, Models>,
    DeletedOption<M> {}

/** Options that read rows by an index, also those that are marked as deleted. */
export interface FindManyCallOptions<M extends Model, Models extends AnyModels>
  extends FindManyOptions<M, Models>,
    DeletedOption<M> {}

/** Options that read all rows, also those that are marked as deleted. */
export interface ScanCallOptions<M extends Model, Models extends AnyModels>
  extends ScanOptions<M, Models>,
    DeletedOption<M> {}

/** Model, options of `distinct` → its field. */
export type DistinctField<M extends Model, T> = IndexedField<M> &
  FieldOf<Row<M>> &
  Option<T, "field", unknown>;

/** The checks of `distinct`. */
export type DistinctChecks<M extends Model, T> = Served<
  M,
  WhereOf<T>,
  { readonly [F in DistinctField<M, T>]: "asc" },
  IndexOf<M, T>
>;

/** Model, options of `rank` → its index. */
export type RankIndex<M extends Model, T> = Fitting<Option<T, "index", IndexName<M>>, IndexName<M>>;

/** The checks of `aggregate`. */
export type AggregateChecks<M extends Model, T> = [T] extends [unknown]
  ? Maintained<M, T, never> & SureFields<T, "sum" | "avg" | "min" | "max">
  : never;

/** The checks of `groupBy`. */
export type GroupByChecks<M extends Model, T> = [T] extends [unknown]
  ? Maintained<M, T, ByOf<M, T>[number]> & SureFields<T, "sum" | "avg" | "min" | "max">
  : never;

/** Model, options, fields of `by` → unknown if the aggregates are maintained, or a type error. */
type Maintained<M extends Model, T, By> = Aggregated<
  M,
  WhereOf<T>,
  By,
  Option<T, "count", false>,
  ChosenIn<T, "sum" | "avg">,
  ChosenIn<T, "min">,
  ChosenIn<T, "max">
>;

/** Model, options of `groupBy` → its `by`. */
export type ByOf<M extends Model, T> = Fitting<
  Option<T, "by", readonly never[]>,
  readonly IndexedField<M>[]
>;

/** Options, names of some of them → the fields that these choose. */
type ChosenIn<T, Names extends string> = Names extends unknown
  ? KeyOfEach<Option<T, Names, None>> & string
  : never;

/** Model, options → the result of `aggregate`. */
export type TotalsOf<M extends Model, T> = AggregateResult<
  M,
  Option<T, "count", false>,
  ChosenIn<T, "sum">,
  ChosenIn<T, "avg">,
  ChosenIn<T, "min">,
  ChosenIn<T, "max">
>;

/** Model, options → one of the results of `groupBy`. */
export type GroupOf<M extends Model, T> = GroupResult<
  M,
  ByOf<M, T>,
  Option<T, "count", false>,
  ChosenIn<T, "sum">,
  ChosenIn<T, "avg">,
  ChosenIn<T, "min">,
  ChosenIn<T, "max">
>;
