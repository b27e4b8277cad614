import type { RelatedRow, RelatedRows } from "./related-types.js";

/** A row with its versionstamp, which a later write can pass as `ifVersion`. */
export interface Versioned<T> {
  readonly row: T;
  /** 20 hexadecimal digits. */
  readonly versionstamp: string;
}

/** Intersection → one object type with all of its properties, which editors show in full. */
export type Flat<T> = { [K in keyof T]: T[K] } & {};

/**
 * Whole row, names of fields, what a repository returns of a row → the same with only these fields.
 * Its relations and its versionstamp stay.
 */
export type SelectedFields<Whole, F extends keyof Whole, Row> =
  Row extends Versioned<infer Unversioned>
    ? Versioned<FieldsAnd<Whole, F, Unversioned>>
    : FieldsAnd<Whole, F, Row>;

type FieldsAnd<Whole, F extends keyof Whole, Row> = [Exclude<keyof Row, keyof Whole>] extends [
  never,
]
  ? Flat<Pick<Whole, F>>
  : Flat<Pick<Whole, F> & Omit<Row, keyof Whole>>;

/** What a repository returns of a row → the same with its versionstamp. */
export type WithVersionstamp<Row> = Row extends Versioned<unknown> ? Row : Versioned<Row>;

/** What a repository returns of a row, relations, `include` → the same with these relations. */
export type WithRelations<Row, Relations, I> =
  Row extends Versioned<infer Unversioned>
    ? Versioned<WithIncluded<Unversioned, Relations, I>>
    : WithIncluded<Row, Relations, I>;

/** Row, its relations, `include` → the row with the relations that are included. */
export type WithIncluded<Row, Relations, I> = undefined extends I
  ? WithIncluded<Row, Relations, Partial<Exclude<I, undefined>>>
  : string extends keyof I
    ? Row
    : [keyof I] extends [never]
      ? Row
      : Flat<Without<Row, keyof I> & Included<Relations, I>>;

/** Row, names → the row without these relations, which are included again. */
type Without<Row, Names> = [keyof Row & Names] extends [never] ? Row : Omit<Row, keyof Row & Names>;

/** Relations, `include` → the properties that relations add, optional if not surely loaded. */
type Included<Relations, I> = [I[keyof I]] extends [true | object]
  ? Each<Relations, I>
  : Each<Relations, Pick<I, AlwaysLoaded<I>>> & Partial<Each<Relations, MaybeLoaded<I>>>;

/** `include` → the relations that are certainly loaded: their value is never undefined or false. */
type AlwaysLoaded<I> = {
  [R in keyof I]-?: [I[R]] extends [true | object] ? R : never;
}[keyof I];

/** `include` → the relations that may be loaded, with their values. */
type MaybeLoaded<I> = {
  [R in Exclude<keyof I, AlwaysLoaded<I>> as [I[R]] extends [false | undefined]
    ? never
    : R]: Exclude<I[R], false | undefined>;
};

type Each<Relations, I> = {
  -readonly [R in keyof I]: R extends keyof Relations
    ? Related<Relations[R], I[R]>
    : R extends "_count"
      ? { -readonly [N in keyof I[R]]: number }
      : never;
};

/** Relation, value in `include` → the property of the row for that relation. */
type Related<R, Q> =
  R extends RelatedRows<infer Row, infer Relations, infer _Keys, infer _Referrer>
    ? ShapedBy<Row, Relations, Q>[]
    : R extends RelatedRow<infer Row, infer Relations, infer Absent>
      ? ShapedBy<Row, Relations, Q> | Absent
      : never;

/** Row, its relations, query → the row as the query returns it. */
type ShapedBy<Row, Relations, Q> = Q extends unknown
  ? "include" extends keyof Q
    ? WithIncluded<FieldsOf<Row, Q>, Relations, Q["include"]>
    : FieldsOf<Row, Q>
  : never;

type FieldsOf<Row, Q> = "select" extends keyof Q
  ? [Q["select"]] extends [undefined]
    ? Row
    : Flat<Pick<Row, AlwaysSelected<Exclude<Q["select"], undefined>> & keyof Row>>
  : Row;

/** `select` → its fields that are neither optional nor possibly undefined. */
export type AlwaysSelected<S> = { [F in keyof S]-?: [S[F]] extends [true] ? F : never }[keyof S];
