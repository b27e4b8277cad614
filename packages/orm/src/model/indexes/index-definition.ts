import type { KvKeyPart } from "@keywright/core";
import type { DecimalField } from "../aggregates/decimal.js";
import type { FieldOf, KeyValue, RowCondition } from "./field-types.js";
import type { Normalizer } from "./normalizers.js";
import type { TextIndexOptions } from "./text-options.js";

/** A field that an index sorts in descending order. Made by `desc`. */
export interface DescendingField<F extends string = string> {
  readonly desc: F;
}

/**
 * Makes an index sort a field in descending order.
 *
 * ```ts
 * const indexes = { byTeamAndScore: { key: ["team", desc("score")] } };
 * ```
 */
export function desc<const F extends string>(field: F): DescendingField<F> {
  return { desc: field };
}

interface IndexOptions<Row> {
  /** Only full-text indexes have it. With it here, the compiler tells both kinds apart. */
  readonly text?: never;
  /** At most one row can have a value. Rows in which the value is absent do not count. */
  readonly unique?: boolean;
  /**
   * The version of the index's functions. Change it if they return other results, so that the index
   * is rebuilt. Without it, changes are detected by the source of the functions, which a minifier
   * changes.
   */
  readonly version?: number | string;
  /** The first part of the index's keys. `byEmail` of `users` has `users_by_email` by default. */
  readonly prefix?: string;
  /**
   * Selects the rows that the index contains: by values of fields, `{ deletedAt: null }`, or by a
   * pure function.
   */
  readonly where?: RowCondition<Row> | ((row: Row) => boolean);
  /**
   * The fields that the functions `where` and `key` read. They see no other fields. Without this
   * option, their source shows the fields: `(row) => row.deletedAt === null`. A function that uses
   * the row in another way, such as `(row) => isOpen(row)` or `(row) => Object.keys(row)`, may read
   * every field, so each migration of the rows concerns its index. A new field concerns it only if
   * the function names it.
   */
  readonly reads?: readonly FieldOf<Row>[];
  /**
   * The content of an entry: a pointer to the row (the default), or a copy of the row. With a
   * pointer, a query reads the entry and then the row. With a copy, every change of the row also
   * writes the entry.
   */
  readonly store?: "pointer" | "copy";
  /** Fields that entries contain. A query that selects only these does not read the row. */
  readonly include?: readonly FieldOf<Row>[];
  /** Maintains the number of rows for each key of the index, so that `count` reads one entry. */
  readonly count?: boolean;
  /**
   * Maintains the sum of fields for each key of the index, for `aggregate` and `groupBy`: integers,
   * bigints, or decimals given by `decimal`. Includes `count`.
   */
  readonly sum?: readonly (string | DecimalField)[];
  /**
   * Keeps the rows of each key of the index in the order of these fields, for their minimum.
   * Includes `count`.
   */
  readonly min?: readonly string[];
  /** The same for their maximum. A field can be in both lists at the cost of one. */
  readonly max?: readonly string[];
  /**
   * Maintains how many rows lie between any two keys of the index, for `rank`, for `skip`, and for
   * the `count` and `sum` of a range. Each costs a number of reads that grows with the logarithm of
   * the number of rows. Includes `count`. Its rows cannot have `expireIn`.
   */
  readonly ranked?: boolean;
}

/** The normalizers of a string by name, applied in their order. */
export type NamedNormalizers<Value> = [Value] extends [string]
  ? Normalizer | readonly [Normalizer, ...Normalizer[]]
  : never;

/** An index over one field. */
export interface FieldIndexDefinition<Row, F, Value> extends IndexOptions<Row> {
  readonly key: F;
  readonly each?: false;
  /**
   * Maps a value to the key part that is indexed, both for writes and for lookups: `"lowercase"`, a
   * list such as `["trim", "lowercase"]`, or a pure function.
   */
  readonly normalize?: NamedNormalizers<Value> | ((value: Value) => KvKeyPart);
}

/** An index with one entry for each element of an array. */
export interface ListIndexDefinition<Row, F, Element> extends IndexOptions<Row> {
  readonly key: F;
  readonly each: true;
  /** Maps an element to its key part, for writes and lookups: names, or a pure function. */
  readonly normalize?: NamedNormalizers<Element> | ((element: Element) => KvKeyPart);
}

/**
 * An index over several fields in order, over a field in descending order, or over values that pure
 * functions compute from the row. A row in which one of these parts is absent is not in the index.
 * In queries, a computed part has the name of the index, as if it were a field.
 */
export interface KeyIndexDefinition<Row> extends IndexOptions<Row> {
  readonly key: KeyIndexPart<Row> | readonly [KeyIndexPart<Row>, ...KeyIndexPart<Row>[]];
  /** Makes one entry for each element of the part that is an array. */
  readonly each?: boolean;
  /**
   * Normalizers by field of the key. Each maps a value of the field, or an element of it, to the
   * key part that is indexed: `{ email: "lowercase" }`. Functions must be pure.
   */
  readonly normalize?: Normalizers<Row>;
}

type Normalizers<Row> = {
  readonly [F in FieldOf<Row>]?:
    | NamedNormalizers<KeyPartValue<NonNullable<Row[F]>>>
    | ((value: KeyPartValue<NonNullable<Row[F]>>) => KvKeyPart);
};

type KeyPartValue<Value> = Value extends readonly (infer Element)[] ? Element : Value;

// `CheckedIndex` checks the results of functions and the types of fields. Its error types say what
// to do.
type KeyIndexPart<Row> = string | DescendingField | ((row: Row) => unknown);

/**
 * Row → the index definitions that its fields allow, with the parameter types of their functions.
 *
 * It is one mapped type, so that all members of the union have the same row when the compiler
 * infers the type of a parameter. If they had different rows, it would infer none.
 */
export type IndexDefinition<Row> = {
  [F in FieldOf<Row> | ""]: F extends keyof Row
    ? OneFieldDefinition<Row, F, NonNullable<Row[F]>>
    : KeyIndexDefinition<Row> | TextIndexOptions<Row>;
}[FieldOf<Row> | ""];

type OneFieldDefinition<Row, F, Value> = [Value] extends [KeyValue]
  ? FieldIndexDefinition<Row, F, Value>
  : [Value] extends [readonly KeyValue[]]
    ? ListIndexDefinition<Row, F, Value[number]>
    : never;

/** A part of an index's key, for any row. */
export type AnyIndexPart = string | DescendingField | ((row: never) => unknown);

type AnyNormalizer = Normalizer | readonly Normalizer[] | ((value: never) => KvKeyPart) | undefined;

/** An index definition for any row. */
export interface AnyIndexDefinition {
  readonly text?: never;
  readonly key: AnyIndexPart | readonly AnyIndexPart[];
  readonly unique?: boolean;
  readonly each?: boolean;
  readonly normalize?: AnyNormalizer | { readonly [field: string]: AnyNormalizer } | undefined;
  readonly where?: Readonly<Record<string, unknown>> | ((row: never) => boolean);
  readonly reads?: readonly string[];
  readonly store?: "pointer" | "copy";
  readonly include?: readonly string[];
  readonly count?: boolean;
  readonly sum?: readonly (string | DecimalField)[];
  readonly min?: readonly string[];
  readonly max?: readonly string[];
  readonly ranked?: boolean;
  readonly prefix?: string;
  readonly version?: number | string;
}
