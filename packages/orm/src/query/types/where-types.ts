import type { Direction } from "../../context/any-query.js";
import type { IndexFields, Model, PrimaryKeyFields } from "../../model/model.js";
import type { NamesNoRow } from "../../model/type-errors.js";
import type { ConditionKind, FieldCondition } from "./condition-types.js";
import type { Forms, KeyOfEach } from "./form-types.js";
import type { IndexedField, IndexedValue, IndexName } from "./key-path-types.js";
import type { UnknownFields, UnknownName } from "./unknown-fields.js";

/**
 * Fields that no index has: what names one is refused by `Served` and by `NamesRow`, which say what to do, instead of as
 * a property too many.
 */
interface OtherFields {
  readonly [field: string]: unknown;
}

/** Model → conditions on the fields that its primary key and its indexes have. `Served` tells whether one serves them. */
export type IndexedWhere<M extends Model> = OtherFields & {
  readonly [F in IndexedField<M>]?: FieldCondition<IndexedValue<M, F>>;
};

/** Model → a direction for one of the fields that its primary key and its indexes have. */
export type OrderBy<M extends Model> = OtherFields & {
  readonly [F in IndexedField<M>]?: Direction;
};

/** Model → the names of its indexes that can name one row. */
type UniqueIndexName<M extends Model> = {
  [N in IndexName<M>]: M["indexes"][N] extends { readonly unique: true }
    ? M["indexes"][N] extends { readonly where: unknown } | { readonly each: true }
      ? never
      : N
    : never;
}[IndexName<M>];

/** Model → a union of the fields of the primary key, in a list, and those of each unique index. */
type UniqueKey<M extends Model> =
  | PrimaryKeyFields<M>
  | { [N in UniqueIndexName<M>]: IndexFields<M["indexes"][N], N> }[UniqueIndexName<M>];

/** Model → values for the fields by which one row is found. `NamesRow` tells whether they name one. */
export type UniqueFields<M extends Model> = OtherFields & {
  readonly [F in UniqueKey<M>[number] & string]?: IndexedValue<M, F>;
};

/** Model → what names one row: its primary key, or the fields of a unique index. */
export type UniqueWhere<M extends Model> = ValuesOfKey<M, UniqueKey<M>>;

type ValuesOfKey<M extends Model, Key> = Key extends readonly (infer F)[]
  ? { readonly [K in F & string]: IndexedValue<M, K> }
  : never;

/**
 * Model, `where` → unknown where its fields are those of the primary key or of a unique index; otherwise what the
 * argument cannot be: a type that says what to do. Of a union each member has to name a row.
 */
export type NamesRow<M extends Model, W> = string extends keyof W
  ? unknown
  : [Unnamed<UniqueKey<M>, W>] extends [never]
    ? unknown
    : [Unnamed<UniqueKey<M>, Forms<W>>] extends [never]
      ? unknown
      : [UnknownName<M, KeyOfEach<W>>] extends [never]
        ? {
            readonly where: NamesNoRow<
              KeyOfEach<W>,
              "give the fields of the primary key or all those of one unique index, each with a value; findFirst() takes what other indexes serve"
            >;
          }
        : { readonly where: UnknownFields<M, KeyOfEach<W>> };

/** Keys, `where` → never where its fields are those of one of the keys, and so are those of each member of a union. */
type Unnamed<Keys extends readonly unknown[], W> = W extends unknown
  ? true extends HasFields<Keys, W>
    ? never
    : W
  : never;

type HasFields<Key, W> = Key extends readonly (infer F)[]
  ? [Exclude<keyof W, F> | Exclude<F, keyof W>] extends [never]
    ? ConditionKind<W[keyof W]> extends "equal"
      ? true
      : false
    : false
  : never;
