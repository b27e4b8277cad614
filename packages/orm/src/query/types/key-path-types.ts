import type { AnyIndexDefinition, DescendingField, FieldOf } from "../../model/index-definition.js";
import type { IndexFields, Model, PrimaryKeyFields, Row } from "../../model/model.js";

/** Model → the names of its indexes. */
export type IndexName<M extends Model> = keyof M["indexes"] & string;

/** What the types of queries know of an index, or of the primary key. */
export interface KeyPath {
  /** By what its keys are sorted, as queries name it. The primary key's fields end the keys of an index that is not unique. */
  readonly fields: readonly unknown[];
  /** Those of the fields that are sorted from the last value to the first. */
  readonly descending: unknown;
  /**
   * The fields that `where` has to name, and the computed part: a row may lack them, and is not in the index then, or they are
   * its array.
   */
  readonly needed: unknown;
  /** The name of the computed part, which `where` or `orderBy` has to name. */
  readonly computed: unknown;
  /** Whether the index holds some of the rows only. */
  readonly partial: unknown;
}

/** Model → a `KeyPath` for each index by its name, and for `primaryKey`. */
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

// An interface, whose members are not made before they are asked for: most indexes are ruled out by their first field.
interface IndexPath<M extends Model, I extends AnyIndexDefinition, N extends string> {
  readonly fields: I extends { readonly unique: true }
    ? IndexFields<I, N>
    : readonly [...IndexFields<I, N>, ...PrimaryKeyFields<M>];
  readonly descending: DescendingOf<I["key"]>;
  readonly needed: NeededFields<Row<M>, I, IndexFields<I, N>[number]>;
  readonly computed: Exclude<IndexFields<I, N>[number], FieldOf<Row<M>>>;
  readonly partial: I extends { readonly where: unknown } ? true : false;
}

/** Key of an index → its fields that sort from the last value to the first. */
type DescendingOf<Key> = Key extends readonly (infer Part)[]
  ? FieldOfDescending<Part>
  : FieldOfDescending<Key>;

type FieldOfDescending<Part> = Part extends DescendingField<infer F> ? F : never;

/**
 * Row, index, its fields → those that a row may lack, what is computed too where the function may give nothing, and of an
 * index with `each` the array or the computed part.
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
      : true extends MayGiveNothing<I["key"]>
        ? F
        : never;

/** Key of an index → whether a function in it may return undefined or null; never where there is none. */
type MayGiveNothing<Key> = Key extends readonly (infer Part)[]
  ? MayGiveNothing<Part>
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

/** Model, indexed field → the type of its values, absent ones aside. */
export type IndexedValue<M extends Model, F> =
  F extends FieldOf<Row<M>>
    ? NonNullable<Row<M>[F]>
    : F extends IndexName<M>
      ? ComputedValue<M["indexes"][F]["key"]>
      : never;

/** Key of a computed index → what its function returns, absent values aside. */
type ComputedValue<Key> = Key extends readonly (infer Part)[]
  ? ComputedValue<Part>
  : Key extends (row: never) => infer V
    ? NonNullable<V>
    : never;
