import type { AnyIndexDefinition } from "../model/index-definition.js";
import type { IndexFields, Model, PrimaryKeyField, Row } from "../model/model.js";
import type { Direction } from "./any-query.js";
import type { PageOptions } from "./read-page.js";

/** Bounds on a field, of which an index serves one lower and one upper. */
export interface RangeFilter<T> {
  readonly gt?: T;
  readonly gte?: T;
  readonly lt?: T;
  readonly lte?: T;
}

/** Row, field names → an object with a value for each of the fields. */
type ValuesOf<R, F> = { readonly [K in F & keyof R]: NonNullable<R[K]> };

/** Row, fields of a key → conditions that the key serves: values for its first fields, then at most one range. */
type ConditionsOf<R, Fields extends readonly unknown[]> = Fields extends readonly [
  infer F extends keyof R,
  ...infer Rest,
]
  ?
      | {
          readonly [K in F]: NonNullable<R[K]> | RangeFilter<NonNullable<R[K]>>;
        }
      | (Rest extends readonly [] ? never : ValuesOf<R, F> & ConditionsOf<R, Rest>)
  : never;

type IndexOf<M extends Model> = M["indexes"][keyof M["indexes"]];

/** Model → its primary key's fields, in order. */
type PrimaryKeyFields<M extends Model> = M["primaryKey"] extends readonly string[]
  ? M["primaryKey"]
  : readonly [M["primaryKey"]];

/** Model → what names one row: its primary key, or the fields of a unique index. */
export type UniqueWhere<M extends Model> =
  | ValuesOf<Row<M>, PrimaryKeyField<M>>
  | UniqueIndexValues<Row<M>, IndexOf<M>>;

type UniqueIndexValues<R, I> = I extends AnyIndexDefinition & {
  readonly unique: true;
}
  ? ValuesOf<R, IndexFields<I, string>[number]>
  : never;

/** Model → conditions that the primary key or one of its indexes serves. */
export type IndexedWhere<M extends Model> =
  | ConditionsOf<Row<M>, PrimaryKeyFields<M>>
  | IndexConditions<Row<M>, IndexOf<M>>;

type IndexConditions<R, I> = I extends AnyIndexDefinition
  ? ConditionsOf<R, IndexFields<I, string>>
  : never;

/** Model → the fields of its primary key and of its indexes. */
export type IndexedField<M extends Model> = PrimaryKeyField<M> | FieldsOfIndex<IndexOf<M>>;

type FieldsOfIndex<I> = I extends AnyIndexDefinition ? IndexFields<I, string>[number] : never;

/** What `findMany` takes: a `where`, an `orderBy` or both, which one index serves together. */
export interface FindManyOptions<M extends Model> extends PageOptions {
  readonly where?: IndexedWhere<M>;
  readonly orderBy?: { readonly [F in IndexedField<M> & string]?: Direction };
}
