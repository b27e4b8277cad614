import type { AlwaysLoaded, AlwaysSelected, MaybeLoaded, Versioned } from "../repository/result-types.js";
import type { RelatedRow, RelatedRows } from "./related-types.js";

/** Intersection → one object type with all of its properties, which editors show in full. */
type Shown<T> = { [K in keyof T]: T[K] } & {};

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
  ? Shown<Pick<Whole, F>>
  : Shown<Pick<Whole, F> & Omit<Row, keyof Whole>>;

/** What a repository returns of a row → the same with its versionstamp. */
export type WithVersionstamp<Row> = Row extends Versioned<unknown> ? Row : Versioned<Row>;

/** What a repository returns of a row, relations, `include` → the same with these relations. */
export type WithRelations<Row, Relations, I> =
  Row extends Versioned<infer Unversioned>
    ? Versioned<Joined<Unversioned, Relations, I>>
    : Joined<Row, Relations, I>;

type Joined<Row, Relations, I> = string extends keyof I
  ? Row
  : Shown<Without<Row, keyof I> & Included<Relations, I>>;

/** Row, names → the row without these relations, which are included again. */
type Without<Row, Names> = [keyof Row & Names] extends [never] ? Row : Omit<Row, keyof Row & Names>;

/** Relations, `include` → the properties that relations add, optional if not surely loaded. */
type Included<Relations, I> = [I[keyof I]] extends [true | object]
  ? Each<Relations, I>
  : Each<Relations, Pick<I, AlwaysLoaded<I>>> & Partial<Each<Relations, MaybeLoaded<I>>>;

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
    ? Joined<FieldsOf<Row, Q>, Relations, Exclude<Q["include"], undefined>>
    : FieldsOf<Row, Q>
  : never;

type FieldsOf<Row, Q> = "select" extends keyof Q
  ? [Q["select"]] extends [undefined]
    ? Row
    : Shown<Pick<Row, AlwaysSelected<Exclude<Q["select"], undefined>> & keyof Row>>
  : Row;
