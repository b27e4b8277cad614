import type * as z from "zod";
import type { DecimalField } from "./aggregates/decimal.js";
import type {
  AnyIndexDefinition,
  AnyIndexPart,
  DescendingField,
} from "./indexes/index-definition.js";
import type { AnyTextIndexOptions } from "./indexes/text-options.js";
import type { AnyComputed, NoComputed } from "./options/computed-types.js";
import type { NoCopies } from "./relations/copied-types.js";
import type { Relation } from "./relations/relation-definition.js";

/** Index definitions by index name. */
export type AnyIndexes = Readonly<Record<string, AnyIndexDefinition>>;

/** Full-text indexes by index name. */
export type AnyTextIndexes = Readonly<Record<string, AnyTextIndexOptions>>;

/** Indexes of both kinds by name, as a definition has them. */
export type AnyDeclaredIndexes = Readonly<Record<string, AnyIndexDefinition | AnyTextIndexOptions>>;

/** Relations by name. */
export type AnyRelations = Readonly<Record<string, Relation>>;

/** The aggregates of all rows that a model maintains. */
export interface AnyAggregates {
  readonly sum: readonly (string | DecimalField)[] | undefined;
  readonly min: readonly string[] | undefined;
  readonly max: readonly string[] | undefined;
}

declare const modelBrand: unique symbol;

/** A model: its schema, primary key, indexes and relations. Made by `defineModel`. */
export interface Model<
  Name extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  PrimaryKey extends string | readonly string[] = string | readonly string[],
  Indexes extends AnyIndexes = AnyIndexes,
  Relations extends AnyRelations = AnyRelations,
  Aggregates extends AnyAggregates = AnyAggregates,
  SoftDelete extends string | undefined = string | undefined,
  Computed extends AnyComputed = AnyComputed,
  TextIndexes extends AnyTextIndexes = AnyTextIndexes,
> {
  readonly name: Name;
  /** The first part of the keys of its rows, if it is not the name. */
  readonly prefix?: string | undefined;
  readonly schema: Schema;
  readonly primaryKey: PrimaryKey;
  readonly indexes: Indexes;
  /** The full-text indexes among the `indexes` of the definition. */
  readonly textIndexes?: TextIndexes;
  readonly relations: Relations;
  /** The functions of the fields that are computed from a row when it is returned. */
  readonly computed?: { readonly [F in keyof Computed]: (row: never) => Computed[F] };
  /** True if the number of rows is maintained, so that `count` reads one entry. */
  readonly count: boolean;
  /** The fields whose sum over all rows is maintained. */
  readonly sum?: Aggregates["sum"];
  /** The fields whose minimum over all rows is maintained. */
  readonly min?: Aggregates["min"];
  /** The fields whose maximum over all rows is maintained. */
  readonly max?: Aggregates["max"];
  /** True if writes maintain the fields `createdAt` and `updatedAt`. */
  readonly timestamps?: boolean;
  /** The field that marks deleted rows. Absent if deleted rows are removed. */
  readonly softDelete?: SoftDelete;
  /** True if a record of changes is kept, for live queries on any database. */
  readonly live: boolean;
  readonly [modelBrand]?: never;
}

/** Models by the names that a program uses for them. */
export type AnyModels = Readonly<Record<string, Model>>;

/**
 * Model → a row as it is stored: the output of the schema. `ResultRow` is a row as it is returned,
 * which also has the computed fields of the model.
 */
export type Row<M extends Model> = z.output<M["schema"]>;

/** Model → the input of `create`: the input of the schema. A ULID primary key may be left out. */
export type CreateInput<M extends Model> = StoredInput<M> &
  NoComputed<M["computed"]> &
  NoCopies<M["relations"]>;

type StoredInput<M extends Model> = M["primaryKey"] extends keyof M["schema"]["shape"]
  ? M["schema"]["shape"][M["primaryKey"]] extends z.ZodULID
    ? OptionalField<z.input<M["schema"]>, M["primaryKey"]>
    : z.input<M["schema"]>
  : z.input<M["schema"]>;

/** Row → the same type with one optional field. */
type OptionalField<T, F extends PropertyKey> = {
  [K in keyof T as Exclude<K, F>]: T[K];
} & {
  [K in keyof T as K extends F ? K : never]?: T[K];
};

/** Model → the fields of its primary key, in order. */
export type PrimaryKeyFields<M extends Model> = M["primaryKey"] extends readonly string[]
  ? M["primaryKey"]
  : M["primaryKey"] extends string
    ? readonly [M["primaryKey"]]
    : never;

/** Model → a union of the fields of its primary key. */
export type PrimaryKeyField<M extends Model> = M["primaryKey"] extends readonly (infer F)[]
  ? F
  : M["primaryKey"];

/** Index, its name → the parts of its key in queries. A computed part has the index's name. */
export type IndexFields<I extends AnyIndexDefinition, Name> = I["key"] extends infer K extends
  readonly AnyIndexPart[]
  ? { readonly [P in keyof K]: PartName<K[P], Name> }
  : readonly [PartName<I["key"], Name>];

type PartName<Part, Name> = Part extends string
  ? Part
  : Part extends DescendingField<infer F>
    ? F
    : Name;
