import type { KvKeyPart } from "@keywright/core";

/** A value that an index or a primary key can hold; a date is held as its milliseconds since 1970. */
export type KeyValue = KvKeyPart | Date;

/** Row → the names of its fields. Fields that only a loose object has don't count. */
export type FieldOf<Row> = (string extends keyof Row ? KnownKey<Row> : keyof Row) & string;

type KnownKey<Row> = keyof {
  [F in keyof Row as string extends F ? never : number extends F ? never : F]: never;
};

/** Row → the names of its fields that a key can hold, absent values aside. */
export type KeyField<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends KeyValue ? F : never;
}[FieldOf<Row>];

/** Row → the names of its fields that are arrays of what a key can hold. */
export type ListField<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends readonly KeyValue[] ? F : never;
}[FieldOf<Row>];

/** Row → the names of the fields that a primary key can be made of: those that no row lacks. */
export type RequiredKeyField<Row> = {
  [F in FieldOf<Row>]: Row[F] extends KeyValue ? F : never;
}[FieldOf<Row>];

/** A field by which an index is sorted from the last value to the first. Made by `desc`. */
export interface DescendingField<F extends string = string> {
  readonly desc: F;
}

/**
 * A field of an index's key whose values are sorted from the last to the first.
 *
 * ```ts
 * const indexes = { byTeamAndScore: { key: ["team", desc("score")] } };
 * ```
 */
export function desc<const F extends string>(field: F): DescendingField<F> {
  return { desc: field };
}

/** What every kind of index may have. */
interface IndexOptions<Row> {
  /** At most one row has a value; rows in which it is absent do not count. */
  readonly unique?: boolean;
  /**
   * Stands for the code of the index's functions: change it when they give other results, so that the index is built anew.
   * Without it their source does, which a minifier changes.
   */
  readonly version?: number | string;
  /** The first part of the index's keys; without it, `users_by_email` for `byEmail` of `users`. */
  readonly prefix?: string;
  /** The rows that the index holds. A query uses such an index only by its name, `index: "byOpen"`. It is pure. */
  readonly where?: (row: Row) => boolean;
  /**
   * What an entry holds: a pointer to the row, which is then read too, or a copy of it, which costs a write of the entry
   * for every change of the row. `"pointer"` without it.
   */
  readonly store?: "pointer" | "copy";
  /** Fields that the entry holds beside the primary key: a query that selects no others does not read the row. */
  readonly include?: readonly FieldOf<Row>[];
  /** Keep the number of rows for each key of the index, so that `count` reads one entry. */
  readonly count?: boolean;
}

/** An index over one field. */
export interface FieldIndexDefinition<Row, F, Value> extends IndexOptions<Row> {
  readonly key: F;
  readonly each?: false;
  /** Maps a value to what is indexed, on writing and on looking up: `(email) => email.toLowerCase()`. It is pure. */
  readonly normalize?: (value: Value) => KvKeyPart;
}

/** An index with an entry for each element of an array. */
export interface ListIndexDefinition<Row, F, Element> extends IndexOptions<Row> {
  readonly key: F;
  readonly each: true;
  /** Maps an element to what is indexed, on writing and on looking up. It is pure. */
  readonly normalize?: (element: Element) => KvKeyPart;
}

/**
 * An index over several fields in order, over one from its last value to its first, or over what a pure function makes
 * of a row. A row in which one of them is absent is not in it. Queries name a computed part as if the index's own name
 * were a field.
 */
export interface KeyIndexDefinition<Row> extends IndexOptions<Row> {
  readonly key: KeyIndexPart<Row> | readonly [KeyIndexPart<Row>, ...KeyIndexPart<Row>[]];
  /** An entry for each element of the one part that is an array. */
  readonly each?: boolean;
  /** For fields of the key, what maps a value of each, or an element, to what is indexed: `{ email: toLowerCase }`. */
  readonly normalize?: Normalizers<Row>;
}

type Normalizers<Row> = {
  readonly [F in FieldOf<Row>]?: (value: KeyPartValue<NonNullable<Row[F]>>) => KvKeyPart;
};

type KeyPartValue<Value> = Value extends readonly (infer Element)[] ? Element : Value;

// What a function returns, and whether a field can be in a key, is left to `CheckedIndex`, which says what to do.
type KeyIndexPart<Row> = string | DescendingField | ((row: Row) => unknown);

/**
 * Row → every index definition that its fields allow, with the types of the parameters of its functions.
 *
 * It is one mapped type, so that the compiler has all of its members with the same row when it looks for the type of a
 * parameter: where they differ, it takes none.
 */
export type IndexDefinition<Row> = {
  [F in FieldOf<Row> | ""]: F extends keyof Row
    ? OneFieldDefinition<Row, F, NonNullable<Row[F]>>
    : KeyIndexDefinition<Row>;
}[FieldOf<Row> | ""];

type OneFieldDefinition<Row, F, Value> = [Value] extends [KeyValue]
  ? FieldIndexDefinition<Row, F, Value>
  : [Value] extends [readonly KeyValue[]]
    ? ListIndexDefinition<Row, F, Value[number]>
    : never;

/** A part of an index's key, whatever its row. */
export type AnyIndexPart = string | DescendingField | ((row: never) => unknown);

type AnyNormalizer = ((value: never) => KvKeyPart) | undefined;

/** An index definition whatever its row. */
export interface AnyIndexDefinition {
  readonly key: AnyIndexPart | readonly AnyIndexPart[];
  readonly unique?: boolean;
  readonly each?: boolean;
  readonly normalize?: AnyNormalizer | { readonly [field: string]: AnyNormalizer } | undefined;
  readonly where?: (row: never) => boolean;
  readonly store?: "pointer" | "copy";
  readonly include?: readonly string[];
  readonly count?: boolean;
  readonly prefix?: string;
  readonly version?: number | string;
}
