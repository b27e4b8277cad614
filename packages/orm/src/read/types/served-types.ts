import type { Model, Row } from "../../model/model.js";
import type { NoCondition, NoIndexServes, ReadsWholeTable } from "../../model/type-errors.js";
import type { ConditionKind } from "./condition-types.js";
import type { Forms, KeyOfEach, OrderForms, TooManyForms } from "./form-types.js";
import type { KeyPath, KeyPaths } from "./key-path-types.js";
import type { UnknownFields, UnknownName } from "./unknown-fields.js";

/** Option → the option, or `{}` if it is undefined. */
export type OrEmpty<T> = T extends undefined ? Record<never, never> : T;

/**
 * Model, `where`, `orderBy`, `index` → unknown if an index serves the query. Otherwise a type error
 * that says what to do.
 *
 * An absent `where` or `orderBy` is `{}` or undefined. An absent `index` is undefined
 * or never. Each member of a union must be served. A query with optional fields must be served with
 * and without each of them. If the fields are not known to the compiler, the result is unknown, and
 * the query is checked at run time.
 */
export type Served<M extends Model, W, O, X> = Checked<
  M,
  OrEmpty<W>,
  OrEmpty<O>,
  X,
  {
    readonly where: ReadsWholeTable<"give where, orderBy or index; to read the whole table, call scan()">;
  }
>;

/** The same as `Served`, but a query without `where`, `orderBy` and `index` means all rows. */
export type ServedOrAll<M extends Model, W, O, X> = Checked<M, OrEmpty<W>, OrEmpty<O>, X, never>;

/** Like `ServedOrAll`, but without `where` and `index`, `filter` is required: no accidents. */
export type ServedOrFiltered<M extends Model, W, O, X> = ServedOrAll<M, W, O, X> &
  ([MaybeEmpty<OrEmpty<W>> | MaybeAbsent<X>] extends [true] ? RequiresFilter<M> : unknown);

/** Requires a filter. `filter: () => true` means all rows. */
interface RequiresFilter<M extends Model> {
  readonly filter: (row: Row<M>) => boolean;
}

/** `where` → true if it may have no fields. False if its fields are not known. */
type MaybeEmpty<W> =
  string extends KeyOfEach<W>
    ? false
    : true extends (W extends unknown ? (Record<never, never> extends W ? true : false) : never)
      ? true
      : false;

/** `index` → true if it may be absent. */
type MaybeAbsent<X> = [X] extends [never] ? true : undefined extends X ? true : false;

/**
 * Model, query → unknown if all queries that it may be are served. Otherwise the refusals.
 * `IfEmpty` is the refusal of a query without `where`, `orderBy` and `index`; never if it means all
 * rows.
 */
type Checked<M extends Model, W, O, X, IfEmpty> = string extends KeyOfEach<W> | OrderedField<O>
  ? unknown
  : Refusals<M, Alternatives<W>, O, X, IfEmpty> extends infer R
    ? [R] extends [never]
      ? unknown
      : R
    : never;

/** `where` → a union of its alternatives: the members of `OR`, each with the other conditions. */
type Alternatives<W> = W extends { readonly OR: readonly (infer Member)[] }
  ? Member extends unknown
    ? Joined<Omit<W, "OR"> & Member>
    : never
  : W;

/** Intersection of objects → one object with their properties. */
type Joined<T> = { readonly [K in keyof T]: T[K] };

/** Model, query → the refusals of the queries in its unions. Never if all are served. */
type Refusals<M extends Model, W, O, X, IfEmpty> = [X] extends [never]
  ? EachRefusal<M, W, O, never, IfEmpty>
  : X extends undefined
    ? EachRefusal<M, W, O, never, IfEmpty>
    : EachRefusal<M, W, O, X, IfEmpty>;

type EachRefusal<M extends Model, W, O, X, IfEmpty> = W extends unknown
  ? O extends unknown
    ? [Refusal<M, W, OrderList<O>, X, IfEmpty>] extends [never]
      ? never
      : EachFormRefusal<M, Forms<W>, OrderForms<O>, X, IfEmpty>
    : never
  : never;

/** The same for each form of a query. Used only if the query as a whole is refused. */
type EachFormRefusal<M extends Model, W, O, X, IfEmpty> = W extends unknown
  ? O extends readonly unknown[]
    ? W extends TooManyForms
      ? { readonly where: CannotCheck<W> }
      : Refusal<M, W, O, X, IfEmpty>
    : { readonly orderBy: CannotCheck<W> }
  : never;

type CannotCheck<W> = NoIndexServes<
  Exclude<keyof W, keyof TooManyForms>,
  "the types cannot tell what this may be: annotate where as IndexedWhere<typeof Model>, orderBy as OrderBy<typeof Model>[], to have it judged at run time"
>;

/** Model, one query → its refusal. Never if it is served. Unknown names are reported first. */
type Refusal<M extends Model, W, O extends readonly unknown[], X, IfEmpty> =
  RefusalOfKnownFields<M, W, O, X, IfEmpty> extends infer R
    ? [R] extends [never]
      ? never
      : [UnknownName<M, keyof W> | UnknownName<M, OrderedField<O>>] extends [never]
        ? R
        : UnknownNames<M, "where", keyof W> & UnknownNames<M, "orderBy", OrderedField<O>>
    : never;

/** The same, without the check for unknown names. */
type RefusalOfKnownFields<M extends Model, W, O extends readonly unknown[], X, IfEmpty> =
  IsEmptyQuery<W, O, X> extends true
    ? IfEmpty
    : [BadCondition<W>] extends [never]
      ? ServedBy<KeyPaths<M>, W, O, X>
      : { readonly where: BadConditions<W> };

/** `where` → a type error for each of its fields that has no valid condition. */
type BadConditions<W> = [NullableField<W>] extends [never]
  ? {
      readonly [F in BadCondition<W>]: NoCondition<"give a value, { in: [...] }, or one range: gt or gte with lt or lte, between, startsWith; leave the field out if it may have any value">;
    }
  : NoCondition<"a condition is a value or null, not one of both or undefined; leave the field out if it may have any value, or write a query for each">;

/** `where` → its fields that may be null or undefined, and may be something else. */
type NullableField<W> = {
  [F in keyof W]-?: [Extract<W[F], null | undefined>] extends [never]
    ? never
    : [W[F]] extends [null]
      ? never
      : F;
}[keyof W];

/** `where` → its fields that are null. */
type AbsentField<W> = {
  [F in keyof W]-?: ConditionKind<W[F]> extends "absent" ? F : never;
}[keyof W];

/** Option, names in it → a type error if some names are not fields. Otherwise unknown. */
type UnknownNames<M extends Model, Option extends string, Names> = [UnknownName<M, Names>] extends [
  never,
]
  ? unknown
  : { readonly [O in Option]: UnknownFields<M, Names> };

type AnyKeyPaths = Readonly<Record<string, KeyPath>>;

type IsEmptyQuery<W, O, X> = [keyof W, OrderedField<O>, X] extends [never, never, never]
  ? true
  : false;

/** `where` → its fields with no condition, or with more conditions than a key can serve. */
type BadCondition<W> = {
  [F in keyof W]-?: "none" extends ConditionKind<W[F]> ? F : never;
}[keyof W];

/** `where` → its fields with exactly one value. */
type SingleField<W> = {
  [F in keyof W]-?: ConditionKind<W[F]> extends "equal" ? F : never;
}[keyof W];

/** `orderBy` → a list of its objects. */
type OrderList<O> = O extends readonly unknown[] ? O : [keyof O] extends [never] ? [] : [O];

/** `orderBy` → the names of its fields. */
type OrderedField<O> = O extends readonly (infer Each)[] ? KeyOfEach<Each> : keyof O;

/** Key paths, query → never if one of them serves it. Otherwise the refusal. */
type ServedBy<Paths extends AnyKeyPaths, W, O extends readonly unknown[], X> = [X] extends [never]
  ? Serving<Paths, keyof Paths, W, O, false> extends never
    ? Unserved<Paths, W, O>
    : never
  : Serving<Paths, X, W, O, true> extends never
    ? RefusedAt<
        Serving<Paths, X, W, [], true>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "the named index does not begin with these fields, or has another order; name another index, or none"
        >
      >
    : never;

/** Key paths, query that none of them serves completely → the refusal, with the reason. */
type Unserved<Paths extends AnyKeyPaths, W, O extends readonly unknown[]> = [
  AbsentField<W>,
] extends [never]
  ? UnservedValues<Paths, W, O>
  : {
      readonly where: NoIndexServes<
        keyof W | OrderedField<O>,
        "rows that lack a field need an index of their own: byOpen: { key: 'createdAt', where: { closedAt: null } }, with the other fields of where and orderBy in its key"
      >;
    };

type UnservedValues<Paths extends AnyKeyPaths, W, O extends readonly unknown[]> =
  Serving<Paths, keyof Paths, W, O, true> extends never
    ? RefusedAt<
        Serving<Paths, keyof Paths, W, [], false>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "declare an index whose key begins with the fields of where, followed by those of orderBy, or move conditions into filter"
        >
      >
    : RefusedAt<
        Serving<Paths, keyof Paths, W, [], false>,
        NoIndexServes<
          keyof W | OrderedField<O>,
          "the index with these fields does not contain every row; if you want only its rows, name it with the option index, otherwise declare an index of these fields alone"
        >
      >;

/** Indexes that serve without the order, error → a refusal at `orderBy`, otherwise at `where`. */
type RefusedAt<WithoutOrder, E> = [WithoutOrder] extends [never]
  ? { readonly where: E }
  : { readonly orderBy: E };

/**
 * Key paths, index names, `where`, order → the names of the indexes that serve the query. If
 * `Forced` is true, indexes that lack rows count too.
 */
type Serving<
  Paths extends AnyKeyPaths,
  N,
  W,
  O extends readonly unknown[],
  Forced,
> = N extends keyof Paths ? (Serves<Paths[N], W, O, Forced> extends true ? N : never) : never;

type Serves<P extends KeyPath, W, O extends readonly unknown[], Forced> = [
  Exclude<keyof W, LeadingFields<P["fields"], W> | SelectedField<P["partial"], W>>,
] extends [never]
  ? InOrder<P["fields"], O, SingleField<W>, P["descending"]> extends true
    ? Forced extends true
      ? true
      : [Exclude<keyof P["partial"], SelectedField<P["partial"], W> | keyof false>] extends [never]
        ? HasAllRows<P, keyof W, OrderedField<O>>
        : false
    : false
  : false;

/**
 * Values of an index's `where`, `where` of a query → the fields that have the same value in both.
 */
type SelectedField<Selected, W> = Selected extends boolean
  ? never
  : {
      [F in keyof Selected]-?: F extends keyof W
        ? [W[F]] extends [Selected[F]]
          ? F
          : never
        : never;
    }[keyof Selected];

/** Key path, fields of `where` and order → true if the index has all rows of the query. */
type HasAllRows<P extends KeyPath, Named, Ordered> = P["partial"] extends true
  ? false
  : [Exclude<P["needed"], Named> | Exclude<P["computed"], Named | Ordered>] extends [never]
    ? true
    : false;

/** Fields of a key, `where` → the leading ones that it names, up to the first with a range. */
export type LeadingFields<
  Fields extends readonly unknown[],
  W,
  Named = never,
> = Fields extends readonly [infer F, ...infer Next]
  ? F extends keyof W
    ? ConditionKind<W[F]> extends "equal" | "in"
      ? LeadingFields<Next, W, Named | F>
      : Named | F
    : Named
  : Named;

/**
 * Fields of a key, order → true if the keys are sorted in this order. `Single` are the fields with
 * one value, which do not affect the order. `Reading` is the reading direction that the earlier
 * fields require: `"forward"`, `"backward"`, or `"either"` if there are none.
 */
type InOrder<
  Fields extends readonly unknown[],
  O extends readonly unknown[],
  Single,
  Descending,
  Reading = "either",
> = O extends readonly [infer Next, ...infer Others]
  ? [KeyOfEach<Next>] extends [Single]
    ? InOrder<Fields, Others, Single, Descending, Reading>
    : Fields extends readonly [infer F, ...infer Rest]
      ? F extends Single
        ? InOrder<Rest, O, Single, Descending, Reading>
        : [KeyOfEach<Next>] extends [F]
          ? Advance<
              Reading,
              Next[keyof Next],
              F extends Descending ? "desc" : "asc"
            > extends infer T
            ? [T] extends [never]
              ? false
              : InOrder<Rest, Others, Single | F, Descending, T>
            : never
          : false
      : false
  : O extends readonly []
    ? true
    : false;

/**
 * Reading direction so far, direction of the order, direction of the key part → the reading
 * direction. Never if the directions contradict each other. A direction of type `Direction`, which
 * is not known before run time, changes nothing.
 */
type Advance<Reading, Asked, OfPart> = ["asc" | "desc", Asked] extends [Asked, "asc" | "desc"]
  ? Reading
  : [Asked] extends ["asc" | "desc"]
    ? (Asked extends OfPart ? "forward" : "backward") extends infer T
      ? Reading extends "either" | T
        ? T
        : never
      : never
    : never;
