import type { FieldOf } from "../../model/indexes/field-types.js";
import type { AnyIndexDefinition, DescendingField } from "../../model/indexes/index-definition.js";
import type { IndexFields, Model, PrimaryKeyFields, Row } from "../../model/model.js";

/** Model → the names of its indexes. */
export type IndexName<M extends Model> = keyof M["indexes"] & string;

/** The facts about an index, or the primary key, that decide which queries it serves. */
export interface KeyPath {
  /** The parts of its keys as queries name them, and the primary key's fields unless unique. */
  readonly fields: readonly unknown[];
  /** The fields that sort in descending order. */
  readonly descending: unknown;
  /**
   * The fields that `where` must name: a field or computed part that a row may lack, because such a
   * row is not in the index, and the array of an index with `each`.
   */
  readonly needed: unknown;
  /** The name of the computed part. `where` or `orderBy` must name it. */
  readonly computed: unknown;
  /**
   * True if the `where` of the index is a function, so that it lacks rows. If `where` has values,
   * these values: the index has all rows of a query with the same conditions. Otherwise false.
   */
  readonly partial: unknown;
}

/** Model → a `KeyPath` for each index, by its name, and one for `primaryKey`. */
export type KeyPaths<M extends Model> = {
  readonly [N in IndexName<M> | "primaryKey"]: N extends IndexName<M>
    ? IndexPath<M, M["indexes"][N], N>
    : PrimaryKeyPath<M>;
};

interface PrimaryKeyPath<M extends Model> {
  readonly fields: PrimaryKeyFields<M>;
  readonly descending: never;
  readonly needed: never;
  readonly computed: never;
  readonly partial: false;
}

// An interface, because its members are resolved only when they are used. Most indexes are ruled
// out by their first field.
interface IndexPath<M extends Model, I extends AnyIndexDefinition, N extends string> {
  readonly fields: I extends { readonly unique: true }
    ? IndexFields<I, N>
    : readonly [...IndexFields<I, N>, ...PrimaryKeyFields<M>];
  readonly descending: DescendingOf<I["key"]>;
  readonly needed: NeededFields<Row<M>, I, IndexFields<I, N>[number]>;
  readonly computed: Exclude<IndexFields<I, N>[number], FieldOf<Row<M>>>;
  readonly partial: I extends { readonly where: infer W }
    ? W extends (...args: never) => unknown
      ? true
      : W
    : false;
}

/** Key of an index → its fields that sort in descending order. */
type DescendingOf<Key> = Key extends readonly (infer Part)[]
  ? FieldOfDescending<Part>
  : FieldOfDescending<Key>;

type FieldOfDescending<Part> = Part extends DescendingField<infer F> ? F : never;

/**
 * Row, index, its fields → the fields that a row may lack, the computed part if its function may
 * return undefined or null, and, if the index has `each`, the array or the computed part.
 */
type NeededFields<R, I extends AnyIndexDefinition, F> =
  F extends FieldOf<R>
    ? undefined extends R[F]
      ? F
      : null extends R[F]
        ? F
        : I extends { readonly each: true }
          ? R[F] extends readonly unknown[]
            ? F
            : never
          : never
    : I extends { readonly each: true }
      ? F
      : true extends MayReturnAbsent<I["key"]>
        ? F
        : never;

/** Key of an index → true if its function may return nothing. Never if it has no function. */
type MayReturnAbsent<Key> = Key extends readonly (infer Part)[]
  ? MayReturnAbsent<Part>
  : Key extends (row: never) => infer V
    ? undefined extends V
      ? true
      : null extends V
        ? true
        : false
    : never;

/** Model → the fields of its primary key and of its indexes, and the names of computed indexes. */
export type IndexedField<M extends Model> =
  | PrimaryKeyFields<M>[number]
  | { [N in IndexName<M>]: IndexFields<M["indexes"][N], N>[number] }[IndexName<M>];

/** Model, indexed field → the type of its values, without undefined and null. */
export type IndexedValue<M extends Model, F> =
  F extends FieldOf<Row<M>>
    ? NonNullable<Row<M>[F]>
    : F extends IndexName<M>
      ? ComputedValue<M["indexes"][F]["key"]>
      : never;

/** Key of a computed index → the type that its function returns, without undefined and null. */
type ComputedValue<Key> = Key extends readonly (infer Part)[]
  ? ComputedValue<Part>
  : Key extends (row: never) => infer V
    ? NonNullable<V>
    : never;
