import type * as z from "zod";
import type { AnyIndexDefinition, AnyIndexPart, DescendingField } from "./index-definition.js";
import type { Relation } from "./relation-definition.js";

/** Index definitions by the index's name. */
export type AnyIndexes = Readonly<Record<string, AnyIndexDefinition>>;

/** Relations by their names. */
export type AnyRelations = Readonly<Record<string, Relation>>;

declare const modelBrand: unique symbol;

/** A model: what its rows are, by which key they are stored, and which indexes lead to them. Made by `defineModel`. */
export interface Model<
  Name extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  PrimaryKey extends string | readonly string[] = string | readonly string[],
  Indexes extends AnyIndexes = AnyIndexes,
  Relations extends AnyRelations = AnyRelations,
> {
  readonly name: Name;
  /** The first part of its rows' keys, where its name is not that. */
  readonly prefix?: string | undefined;
  readonly schema: Schema;
  readonly primaryKey: PrimaryKey;
  readonly indexes: Indexes;
  readonly relations: Relations;
  /** Whether the number of rows is kept, so that `count` reads one entry. */
  readonly count: boolean;
  /** Whether a record of changes is kept, for live queries on any database. */
  readonly live: boolean;
  readonly [modelBrand]?: never;
}

/** Models by the names that a program has for them. */
export type AnyModels = Readonly<Record<string, Model>>;

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

/** Model → its primary key's fields, in order. */
export type PrimaryKeyFields<M extends Model> = M["primaryKey"] extends readonly string[]
  ? M["primaryKey"]
  : M["primaryKey"] extends string
    ? readonly [M["primaryKey"]]
    : never;

/** Model → the names of its primary key's fields. */
export type PrimaryKeyField<M extends Model> = M["primaryKey"] extends readonly (infer F)[]
  ? F
  : M["primaryKey"];

/** Index definition, its name → what its key is made of, by the names that queries use. A computed part has the index's name. */
export type IndexFields<I extends AnyIndexDefinition, Name> = I["key"] extends infer K extends
  readonly AnyIndexPart[]
  ? { readonly [P in keyof K]: PartName<K[P], Name> }
  : readonly [PartName<I["key"], Name>];

type PartName<Part, Name> = Part extends string
  ? Part
  : Part extends DescendingField<infer F>
    ? F
    : Name;
