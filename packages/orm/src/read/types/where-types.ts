import type { IndexFields, Model, PrimaryKeyFields, Row } from "../../model/model.js";
import type { NamesNoRow } from "../../model/type-errors.js";
import type { Direction } from "../../state/context/any-query.js";
import type { ConditionKind, EqualsFilter, FieldCondition } from "./condition-types.js";
import type { Forms, KeyOfEach } from "./form-types.js";
import type { IndexedField, IndexedValue, IndexName } from "./key-path-types.js";
import type { UnknownFields, UnknownName } from "./unknown-fields.js";

/** Allows other fields, which `Served` and `NamesRow` refuse with a better message. */
interface OtherFields {
  readonly [field: string]: unknown;
}

/** Model → conditions on the fields of its primary key and its indexes. `Served` checks them. */
export type IndexedWhere<M extends Model> = Conditions<M> & {
  /** Rows that meet all conditions of at least one member. */
  readonly OR?: readonly Conditions<M>[];
};

/** Model → conditions that hold together. Null is for rows that lack the field. */
type Conditions<M extends Model> = OtherFields & {
  readonly [F in IndexedField<M>]?: FieldCondition<IndexedValue<M, F>> | AbsentOf<M, F>;
};

/** Model, field → null if a row may lack the field. */
type AbsentOf<M extends Model, F> = F extends keyof Row<M>
  ? [Extract<Row<M>[F], null | undefined>] extends [never]
    ? never
    : null
  : never;

/** Model → a direction for a field of its primary key or its indexes. */
export type OrderBy<M extends Model> = OtherFields & {
  readonly [F in IndexedField<M>]?: Direction;
};

/** Model → the names of the indexes that identify one row. */
type UniqueIndexName<M extends Model> = {
  [N in IndexName<M>]: M["indexes"][N] extends { readonly unique: true }
    ? M["indexes"][N] extends { readonly where: unknown } | { readonly each: true }
      ? never
      : N
    : never;
}[IndexName<M>];

/** Model → a union of field lists: of the primary key and of each unique index. */
type UniqueKey<M extends Model> =
  | PrimaryKeyFields<M>
  | { [N in UniqueIndexName<M>]: IndexFields<M["indexes"][N], N> }[UniqueIndexName<M>];

/** Model → values for the fields of its unique keys. `NamesRow` checks if they identify one row. */
export type UniqueFields<M extends Model> = OtherFields & {
  readonly [F in UniqueKey<M>[number] & string]?:
    | IndexedValue<M, F>
    | EqualsFilter<IndexedValue<M, F>>;
};

/** Model → values that identify one row: those of its primary key, or of a unique index. */
export type UniqueWhere<M extends Model> = ValuesOfKey<M, UniqueKey<M>>;

type ValuesOfKey<M extends Model, Key> = Key extends readonly (infer F)[]
  ? { readonly [K in F & string]: IndexedValue<M, K> }
  : never;

/**
 * Model, `where` → unknown if its fields are those of the primary key or of a unique index.
 * Otherwise a type error that says what to do. Each member of a union must identify a row.
 */
export type NamesRow<M extends Model, W> = string extends keyof W
  ? unknown
  : [NotIdentifying<UniqueKey<M>, W>] extends [never]
    ? unknown
    : [NotIdentifying<UniqueKey<M>, Forms<W>>] extends [never]
      ? unknown
      : [UnknownName<M, KeyOfEach<W>>] extends [never]
        ? {
            readonly where: NamesNoRow<
              KeyOfEach<W>,
              "give a value for each field of the primary key or of one unique index; use findFirst() for other fields"
            >;
          }
        : { readonly where: UnknownFields<M, KeyOfEach<W>> };

/** Unique keys, `where` → the members of the union whose fields are not those of a key. */
type NotIdentifying<Keys extends readonly unknown[], W> = W extends unknown
  ? true extends HasKeyFields<Keys, W>
    ? never
    : W
  : never;

type HasKeyFields<Key, W> = Key extends readonly (infer F)[]
  ? [Exclude<keyof W, F> | Exclude<F, keyof W>] extends [never]
    ? ConditionKind<W[keyof W]> extends "equal"
      ? true
      : false
    : false
  : never;
