import type { Model, Row } from "../../model/model.js";
import type { NoCondition, NoIndexServes, ReadsWholeTable } from "../../model/type-errors.js";
import type { ConditionKind } from "./condition-types.js";
import type { Forms, KeyOfEach, OrderForms, Untold } from "./form-types.js";
import type { KeyPath, KeyPaths } from "./key-path-types.js";
import type { UnknownFields, UnknownName } from "./unknown-fields.js";

declare const notGiven: unique symbol;

/**
 * Marks the type of an option that a call does not have, beside all that it could be: the compiler offers that for
 * completion where the option is being written.
 */
export interface NotGiven {
  readonly [notGiven]?: never;
}

/** An option as a call has it; `{}` where it has none, or undefined. */
type Given<T> = T extends undefined
  ? Record<never, never>
  : typeof notGiven extends keyof T
    ? Record<never, never>
    : T;

/**
 * Model, `where`, `orderBy`, `index` → unknown where an index serves the query; otherwise what its argument cannot be: a
 * type that says what to do.
 *
 * A `where` or `orderBy` that is absent is `{}`, undefined or `NotGiven`, an absent `index` undefined or never. Of a union
 * each member has to be served, and of optional fields the query with each of them and the one without. Where fields are
 * not known nothing is said: that is left to the check at run time.
 */
export type Served<M extends Model, W, O, X> = Judged<
  M,
  Given<W>,
  Given<O>,
  X,
  {
    readonly where: ReadsWholeTable<"say which rows are meant, by where, orderBy or index; scan() reads the whole table">;
  }
>;

/** The same, where a query that says nothing means all rows. */
export type ServedOrAll<M extends Model, W, O, X> = Judged<M, Given<W>, Given<O>, X, never>;

/** The same, where a query with neither `where` nor `index` has to say by `filter` that it means all rows. */
export type ServedOrFiltered<M extends Model, W, O, X> = ServedOrAll<M, W, O, X> &
  ([MaybeEmpty<Given<W>> | MaybeAbsent<X>] extends [true] ? EveryRow<M> : unknown);

/** All rows are meant: `filter: () => true`. */
interface EveryRow<M extends Model> {
  readonly filter: (row: Row<M>) => boolean;
}

/** `where` → whether it may be without fields; of one whose fields are not known it is not said. */
type MaybeEmpty<W> =
  string extends KeyOfEach<W>
    ? false
    : true extends (W extends unknown ? (Record<never, never> extends W ? true : false) : never)
      ? true
      : false;

/** `index` → whether it may be absent. */
type MaybeAbsent<X> = [X] extends [never] ? true : undefined extends X ? true : false;

/** `Nothing` is what is refused of a query that says nothing. */
type Judged<M extends Model, W, O, X, Nothing> = string extends KeyOfEach<W> | OrderedField<O>
  ? unknown
  : Refusals<M, W, O, X, Nothing> extends infer R
    ? [R] extends [never]
      ? unknown
      : R
    : never;

/** What is refused of each of the queries that are meant by unions; never where all are served. */
type Refusals<M extends Model, W, O, X, Nothing> = [X] extends [never]
  ? EachRefusal<M, W, O, never, Nothing>
  : X extends undefined
    ? EachRefusal<M, W, O, never, Nothing>
    : EachRefusal<M, W, O, X, Nothing>;

type EachRefusal<M extends Model, W, O, X, Nothing> = W extends unknown
  ? O extends unknown
    ? [Refusal<M, W, OrderList<O>, X, Nothing>] extends [never]
      ? never
      : FormsRefusal<M, Forms<W>, OrderForms<O>, X, Nothing>
    : never
  : never;

/** The same, for each form of a query that is refused as it stands, which one with optional fields is. */
type FormsRefusal<M extends Model, W, O, X, Nothing> = W extends unknown
  ? O extends readonly unknown[]
    ? W extends Untold
      ? { readonly where: NotJudged<W> }
      : Refusal<M, W, O, X, Nothing>
    : { readonly orderBy: NotJudged<W> }
  : never;

type NotJudged<W> = NoIndexServes<
  Exclude<keyof W, keyof Untold>,
  "the types cannot tell what this may be: annotate where as IndexedWhere<typeof Model>, orderBy as OrderBy<typeof Model>[], to have it judged at run time"
>;

type Refusal<M extends Model, W, O extends readonly unknown[], X, Nothing> =
  Unserving<M, W, O, X, Nothing> extends infer R
    ? [R] extends [never]
      ? never
      : [UnknownName<M, keyof W> | UnknownName<M, OrderedField<O>>] extends [never]
        ? R
        : UnknownNames<M, "where", keyof W> & UnknownNames<M, "orderBy", OrderedField<O>>
    : never;

/** The same, but for the reason that there is no such field. */
type Unserving<M extends Model, W, O extends readonly unknown[], X, Nothing> =
  SaysNothing<W, O, X> extends true
    ? Nothing
    : [BadCondition<W>] extends [never]
      ? ServedBy<KeyPaths<M>, W, O, X>
      : { readonly where: BadConditions<W> };

/** What cannot stand under the fields of a `where`. */
type BadConditions<W> = [NothingField<W>] extends [never]
  ? {
      readonly [F in BadCondition<W>]: NoCondition<"give a value, { in: [...] }, or one range: gt or gte with lt or lte, between, startsWith; leave a field out that may have any value">;
    }
  : NoCondition<"no index has the rows that lack a value: leave the field out if it may have any, or index what stands for nothing, key: (row) => row.field ?? ''">;

/** `where` → its fields that are null or undefined, or may be. */
type NothingField<W> = {
  [F in keyof W]-?: [Extract<W[F], null | undefined>] extends [never] ? never : F;
}[keyof W];

/** Option, names in it → what the option cannot be, where names among them are no fields. */
type UnknownNames<M extends Model, Option extends string, Names> = [UnknownName<M, Names>] extends [
  never,
]
  ? unknown
  : { readonly [O in Option]: UnknownFields<M, Names> };

type AnyKeyPaths = Readonly<Record<string, KeyPath>>;

type SaysNothing<W, O, X> = [keyof W, OrderedField<O>, X] extends [never, never, never]
  ? true
  : false;

/** `where` → its fields of which it says nothing, or more than a key can serve. */
type BadCondition<W> = {
  [F in keyof W]-?: "none" extends ConditionKind<W[F]> ? F : never;
}[keyof W];

/** `where` → its fields with one value. */
type SingleField<W> = {
  [F in keyof W]-?: ConditionKind<W[F]> extends "equal" ? F : never;
}[keyof W];

/** `orderBy` → its objects, in a list. */
type OrderList<O> = O extends readonly unknown[] ? O : [keyof O] extends [never] ? [] : [O];

/** `orderBy` → its fields. */
type OrderedField<O> = O extends readonly (infer Each)[] ? KeyOfEach<Each> : keyof O;

/** Key paths, query → never where one of them serves it. */
type ServedBy<Paths extends AnyKeyPaths, W, O extends readonly unknown[], X> = [X] extends [never]
  ? Serving<Paths, keyof Paths, W, O, false> extends never
    ? Unserved<Paths, W, O>
    : never
  : Serving<Paths, X, W, O, true> extends never
    ? At<
        Serving<Paths, X, W, [], true>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "the keys of the index that is named do not begin with these fields, or are sorted otherwise: name another, or none"
        >
      >
    : never;

type Unserved<Paths extends AnyKeyPaths, W, O extends readonly unknown[]> =
  Serving<Paths, keyof Paths, W, O, true> extends never
    ? At<
        Serving<Paths, keyof Paths, W, [], false>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "declare an index whose key begins with the fields of where and goes on with those of orderBy, or put conditions into filter"
        >
      >
    : At<
        Serving<Paths, keyof Paths, W, [], false>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "the index with these fields lacks rows, those without its other fields or those that its own where leaves out: name it by index if that is meant, or declare an index of these fields alone"
        >
      >;

/** Indexes that serve `where` without its order, error → what is refused: the order if there are any, else `where`. */
type At<WithoutOrder, E> = [WithoutOrder] extends [never]
  ? { readonly where: E }
  : { readonly orderBy: E };

/** Key paths, names, `where`, order → the names of those that serve the query; `Forced` where rows may be missing. */
type Serving<
  Paths extends AnyKeyPaths,
  N,
  W,
  O extends readonly unknown[],
  Forced,
> = N extends keyof Paths ? (Serves<Paths[N], W, O, Forced> extends true ? N : never) : never;

type Serves<P extends KeyPath, W, O extends readonly unknown[], Forced> = [
  Exclude<keyof W, Read<P["fields"], W>>,
] extends [never]
  ? InOrder<P["fields"], O, SingleField<W>, P["descending"]> extends true
    ? Forced extends true
      ? true
      : HasAllRows<P, keyof W, OrderedField<O>>
    : false
  : false;

/** Whether an index has all rows that a query means, which names these fields in its `where` and in its order. */
type HasAllRows<P extends KeyPath, Named, Ordered> = P["partial"] extends true
  ? false
  : [Exclude<P["needed"], Named> | Exclude<P["computed"], Named | Ordered>] extends [never]
    ? true
    : false;

/** Fields of a key, `where` → those of the first that it names, up to a range. */
type Read<Fields extends readonly unknown[], W, Named = never> = Fields extends readonly [
  infer F,
  ...infer Next,
]
  ? F extends keyof W
    ? ConditionKind<W[F]> extends "equal" | "in"
      ? Read<Next, W, Named | F>
      : Named | F
    : Named
  : Named;

/**
 * Whether keys are sorted as asked. `Single` are fields with one value, which do not matter. `Turned` is how the index
 * has been read for the fields before: `"forward"`, `"backward"`, or `"either"`.
 */
type InOrder<
  Fields extends readonly unknown[],
  O extends readonly unknown[],
  Single,
  Descending,
  Turned = "either",
> = O extends readonly [infer Next, ...infer Others]
  ? [KeyOfEach<Next>] extends [Single]
    ? InOrder<Fields, Others, Single, Descending, Turned>
    : Fields extends readonly [infer F, ...infer Rest]
      ? F extends Single
        ? InOrder<Rest, O, Single, Descending, Turned>
        : [KeyOfEach<Next>] extends [F]
          ? Turn<Turned, Next[keyof Next], F extends Descending ? "desc" : "asc"> extends infer T
            ? [T] extends [never]
              ? false
              : InOrder<Rest, Others, Single | F, Descending, T>
            : never
          : false
      : false
  : O extends readonly []
    ? true
    : false;

/** How the index has been read, direction asked, direction of the index's part → how it is read; never where it cannot be. */
type Turn<Turned, Asked, Own> = ["asc" | "desc", Asked] extends [Asked, "asc" | "desc"]
  ? Turned
  : [Asked] extends ["asc" | "desc"]
    ? (Asked extends Own ? "forward" : "backward") extends infer T
      ? Turned extends "either" | T
        ? T
        : never
      : never
    : never;
