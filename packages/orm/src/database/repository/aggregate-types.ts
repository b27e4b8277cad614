import type { DecimalField } from "../../model/aggregates/decimal.js";
import type { FieldOf } from "../../model/indexes/field-types.js";
import type { IndexFields, Model, Row } from "../../model/model.js";
import type { NoAggregateServes } from "../../model/type-errors.js";
import type { IndexedField, IndexedValue, IndexName } from "../../read/types/key-path-types.js";
import type { LeadingFields, OrEmpty } from "../../read/types/served-types.js";
import type { IndexedWhere } from "../../read/types/where-types.js";
import type { Direction } from "../../state/context/any-query.js";
import type { ReadOptions, ValueOptions } from "./options/read-options.js";

/** Definition of an index or a model → the fields that it sums. */
type SumOf<D> = D extends { readonly sum?: infer List }
  ? List extends readonly (infer Each)[]
    ? NameOf<Each>
    : never
  : never;

type NameOf<Each> = Each extends DecimalField<infer F> ? F : Extract<Each, string>;

/** Definition of an index or a model, option → the fields in the list of the option. */
type ListOf<D, Option extends "min" | "max"> = D extends { readonly [O in Option]?: infer List }
  ? List extends readonly (infer Each)[]
    ? Extract<Each, string>
    : never
  : never;

/** Model → the fields that it sums, over all rows or by an index. */
export type SummedFieldOf<M extends Model> =
  | SumOf<M>
  | { [N in IndexName<M>]: SumOf<M["indexes"][N]> }[IndexName<M>];

/** Model, option → the fields whose minimum or maximum it maintains. */
export type ExtremeFieldOf<M extends Model, Option extends "min" | "max"> =
  | ListOf<M, Option>
  | { [N in IndexName<M>]: ListOf<M["indexes"][N], Option> }[IndexName<M>];

/** The argument of `aggregate`. */
export interface AggregateOptions<M extends Model> extends ReadOptions {
  /**
   * Conditions on the first fields of an index that maintains the aggregates. All rows if absent.
   */
  readonly where?: IndexedWhere<M> | undefined;
  /** The name of the index to use. Required if the index may lack some of the rows. */
  readonly index?: (keyof M["indexes"] & string) | undefined;
  /** Count the rows. */
  readonly count?: boolean;
  /** The fields to add up: `{ amount: true }`. Null in the result if no row has a value. */
  readonly sum?: Fields<SummedFieldOf<M>>;
  /** The fields whose mean is wanted. Null in the result if no row has a value. */
  readonly avg?: Fields<SummedFieldOf<M>>;
  /** The fields whose smallest value is wanted. Null in the result if no row has a value. */
  readonly min?: Fields<ExtremeFieldOf<M, "min">>;
  /** The fields whose largest value is wanted. Null in the result if no row has a value. */
  readonly max?: Fields<ExtremeFieldOf<M, "max">>;
}

/** Names of fields → an object that lists some of them. */
type Fields<Names extends string> = { readonly [F in Names]?: true };

/** The argument of `groupBy`. B are the fields of its `by`, and Totals its aggregates. */
export interface GroupByOptions<M extends Model, B extends readonly string[], Totals>
  extends AggregateOptions<M> {
  /** The fields whose values make up the groups. */
  readonly by: readonly [IndexedField<M>, ...IndexedField<M>[]];
  /**
   * The direction of the first field of `by`, because groups are sorted by the fields of `by`. Or
   * one aggregate of the call, `{ count: "desc" }` or `{ sum: { amount: "desc" } }`: then all
   * groups are read, and sorted in memory.
   */
  readonly orderBy?: { readonly [F in B[0]]: Direction } | AggregateOrder<Totals> | undefined;
  /**
   * Conditions on aggregates of the call: `{ count: { gt: 1 }, sum: { amount: { gte: 100 } } }`. A
   * group without a value meets none. The other groups are read too.
   */
  readonly having?: Having<Totals> | undefined;
  /** The maximum number of groups. All of them if absent. */
  readonly take?: number | undefined;
}

/** Options of a list of groups. `Totals` has the aggregates of a group. */
export interface GroupOptions<Totals> extends ValueOptions {
  /**
   * Sorts the groups by one aggregate, `{ count: "desc" }` or `{ sum: { amount: "desc" } }`,
   * instead of by their values. All groups are then read, and sorted in memory.
   */
  readonly orderBy?: AggregateOrder<Totals> | undefined;
  /**
   * Conditions on aggregates: `{ count: { gt: 1 }, sum: { amount: { gte: 100 } } }`. A group
   * without a value meets none. The other groups are read too.
   */
  readonly having?: Having<Totals> | undefined;
}

/** The aggregates of a group → an order by one of them. */
export type AggregateOrder<Totals> = {
  [K in keyof Totals]: {
    readonly [One in K]: One extends "count"
      ? Direction
      : { readonly [F in keyof Totals[One]]?: Direction };
  };
}[keyof Totals];

/** The aggregates of a group → conditions on them. */
export type Having<Totals> = {
  readonly [K in keyof Totals]?: K extends "count"
    ? AggregateCondition<number>
    : { readonly [F in keyof Totals[K]]?: AggregateCondition<NonNullable<Totals[K][F]>> };
};

type AggregateCondition<T> =
  | T
  | {
      readonly equals?: T;
      readonly gt?: T;
      readonly gte?: T;
      readonly lt?: T;
      readonly lte?: T;
    };

/** The aggregates of a call → its result: `{ count: number; sum: { amount: number | null } }`. */
export type AggregateResult<
  M extends Model,
  C,
  S extends string,
  V extends string,
  L extends string,
  H extends string,
> = {
  readonly [K in
    | (C extends true ? "count" : never)
    | ([S] extends [never] ? never : "sum")
    | ([V] extends [never] ? never : "avg")
    | ([L] extends [never] ? never : "min")
    | ([H] extends [never] ? never : "max")]: K extends "count"
    ? number
    : K extends "sum"
      ? { readonly [F in S]: ValueOf<M, F> | null }
      : K extends "avg"
        ? { readonly [F in V]: number | null }
        : K extends "min"
          ? { readonly [F in L]: ValueOf<M, F> | null }
          : { readonly [F in H]: ValueOf<M, F> | null };
};

/** Model, field → the type of its values: `number`, not the literals that the schema allows. */
type ValueOf<M extends Model, F> =
  F extends FieldOf<Row<M>> ? Widened<NonNullable<Row<M>[F]>> : never;

type Widened<T> = T extends number
  ? number
  : T extends bigint
    ? bigint
    : T extends string
      ? string
      : T;

/** The same for a group, with the values of its fields. */
export type GroupResult<
  M extends Model,
  B extends readonly string[],
  C,
  S extends string,
  V extends string,
  L extends string,
  H extends string,
> = {
  readonly [F in B[number]]: F extends IndexedField<M> ? GroupValue<IndexedValue<M, F>> : never;
} & AggregateResult<M, C, S, V, L, H>;

/** Values of a field, or lists of them if its elements are indexed → one value. */
type GroupValue<T> = T extends readonly (infer Element)[] ? Element : T;

/**
 * Model, `where`, fields of `by`, requested fields → unknown if an index maintains the aggregates.
 * Otherwise a type error that says what to declare.
 */
export type Aggregated<M extends Model, W, B, C, Summed, L, H> = string extends keyof OrEmpty<W>
  ? unknown
  : [
        | ServingIndex<M, OrEmpty<W>, B, C, Summed, L, H>
        | ServingModel<M, OrEmpty<W>, B, C, Summed, L, H>,
      ] extends [never]
    ? {
        readonly where: NoAggregateServes<
          keyof OrEmpty<W> | B,
          "declare sum, min, max or count: true for these fields: on an index whose key begins with the fields of where and by, or on the model for all rows"
        >;
      }
    : unknown;

type ServingIndex<M extends Model, W, B, C, Summed, L, H> = {
  [N in IndexName<M>]: [
    | Exclude<keyof W, LeadingFields<IndexFields<M["indexes"][N], N>, W> | "OR">
    | Exclude<B, IndexFields<M["indexes"][N], N>[number]>
    | Lacks<M["indexes"][N], C, Summed, L, H>,
  ] extends [never]
    ? N
    : never;
}[IndexName<M>];

type ServingModel<M extends Model, W, B, C, Summed, L, H> = [
  keyof W | B | Lacks<M, C, Summed, L, H>,
] extends [never]
  ? true
  : never;

/** Definition of an index or a model, requested aggregates → those that it lacks. */
type Lacks<D, C, Summed, L, H> =
  | Exclude<Summed, SumOf<D>>
  | Exclude<L, ListOf<D, "min">>
  | Exclude<H, ListOf<D, "max">>
  | (C extends true ? Uncounted<D> : never);

/** Definition of an index → never if it may count its rows. `boolean` is decided at run time. */
type Uncounted<D> = D extends
  | { readonly count: true }
  | { readonly sum: readonly unknown[] }
  | { readonly min: readonly unknown[] }
  | { readonly max: readonly unknown[] }
  | { readonly ranked: true }
  ? never
  : D extends { readonly count: boolean }
    ? never
    : "count";
