import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";

/** A value that an index or a primary key can hold; a date is held as its milliseconds since 1970. */
export type KeyValue = KvKeyPart | Date;

/** Row → the names of its fields that a key can hold, absent values aside. Fields that only a loose object has don't count. */
export type KeyField<Row> = keyof {
  [F in keyof Row as string extends F
    ? never
    : number extends F
      ? never
      : NonNullable<Row[F]> extends KeyValue
        ? F
        : never]: never;
} &
  string;

/** An index over one field. */
export interface FieldIndexDefinition<Row, F extends KeyField<Row>> {
  readonly key: F;
  /** At most one row has a value; rows in which it is absent do not count. */
  readonly unique?: boolean;
  /** Maps a value to what is indexed, on writing and on looking up: `(email) => email.toLowerCase()`. It is pure. */
  readonly normalize?: (value: NonNullable<Row[F]>) => KvKeyPart;
  /** The first part of the index's keys; without it, `users_by_email` for `byEmail` of `users`. */
  readonly prefix?: string;
}

/** An index over several fields, in order. A row in which one of them is absent is not in it. */
export interface CompoundIndexDefinition<Row> {
  readonly key: readonly [KeyField<Row>, ...KeyField<Row>[]];
  readonly unique?: boolean;
  readonly prefix?: string;
}

/** Row → every index definition that its fields allow. */
export type IndexDefinition<Row> =
  | { [F in KeyField<Row>]: FieldIndexDefinition<Row, F> }[KeyField<Row>]
  | CompoundIndexDefinition<Row>;

/** An index definition whatever its row. */
export interface AnyIndexDefinition {
  readonly key: string | readonly string[];
  readonly unique?: boolean;
  readonly normalize?: (value: never) => KvKeyPart;
  readonly prefix?: string;
}

declare const modelBrand: unique symbol;

/** A model: what its rows are, by which key they are stored, and which indexes lead to them. Made by `defineModel`. */
export interface Model<
  Name extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  PrimaryKey extends string | readonly string[] = string | readonly string[],
  Indexes extends Readonly<Record<string, AnyIndexDefinition>> = Readonly<
    Record<string, AnyIndexDefinition>
  >,
> {
  readonly name: Name;
  readonly schema: Schema;
  readonly primaryKey: PrimaryKey;
  readonly indexes: Indexes;
  readonly [modelBrand]?: never;
}

/** Model → a row as it is stored and returned: the schema's output. */
export type Row<M extends Model> = z.output<M["schema"]>;

/** Model → what `create` takes: the schema's input, in which a ULID primary key may be left out. */
export type CreateInput<M extends Model> = M["primaryKey"] extends keyof M["schema"]["shape"]
  ? M["schema"]["shape"][M["primaryKey"]] extends z.ZodULID
    ? OptionalField<z.input<M["schema"]>, M["primaryKey"]>
    : z.input<M["schema"]>
  : z.input<M["schema"]>;

/** Row → the same with one field optional. */
type OptionalField<T, F extends PropertyKey> = {
  [K in keyof T as Exclude<K, F>]: T[K];
} & {
  [K in keyof T as K extends F ? K : never]?: T[K];
};

/** Model → what `update` takes: the fields to change. A field that is absent or undefined stays as it is. */
export type UpdateInput<M extends Model> = {
  [F in Exclude<keyof z.input<M["schema"]>, PrimaryKeyField<M>>]?:
    | z.input<M["schema"]>[F]
    | undefined;
};

/** Model → the names of its primary key's fields. */
export type PrimaryKeyField<M extends Model> = M["primaryKey"] extends readonly (infer F)[]
  ? F
  : M["primaryKey"];

/** Index definition → the fields of its key, in order. */
export type IndexFields<I extends AnyIndexDefinition> = I["key"] extends readonly string[]
  ? I["key"]
  : readonly [I["key"]];
