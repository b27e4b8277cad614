import type * as z from "zod";
import type { FieldOf, KeyValue } from "../../model/indexes/field-types.js";
import type {
  AnyIndexes,
  AnyModels,
  AnyRelations,
  AnyTextIndexes,
  Model,
  Row,
} from "../../model/model.js";
import type {
  BelongsTo,
  HasMany,
  HasOne,
  ManyToMany,
} from "../../model/relations/relation-definition.js";
import type { ComputedOf } from "../../model/rows/result-row.js";
import type { NotScopable } from "../../model/type-errors.js";

/** Fields of a scope, and the values that they have in all of its rows. */
export type ScopeValues = Readonly<Record<string, KeyValue>>;

/** Models, scope → unknown if a model has the fields with such values. Otherwise a type error. */
export type CheckedScope<M extends AnyModels, S> = [keyof S, InScope<M, S>] extends
  | [never, unknown]
  | [unknown, never]
  ? NotScopable<
      keyof S,
      "no model has these fields with values of this type; name fields that models have"
    >
  : unknown;

/** Models, scope → the names of the models that have its fields, with values of its types. */
type InScope<M extends AnyModels, S> = {
  [K in keyof M]: S extends { readonly [F in keyof S & FieldOf<Row<M[K]>>]: Row<M[K]>[F] }
    ? [Exclude<keyof S, FieldOf<Row<M[K]>>>] extends [never]
      ? K
      : never
    : never;
}[keyof M];

/** Models, scope → the models that have its fields, as they are within the scope. */
export type ScopedModels<M extends AnyModels, S> = {
  readonly [K in InScope<M, S>]: ScopedModel<M[K], keyof S>;
};

/**
 * Model, fields of a scope → the model within the scope: `create` can leave the fields out, and the
 * keys of queries do not have them. Indexes without them are left out.
 */
type ScopedModel<M extends Model, F> = Model<
  M["name"],
  ScopedSchema<M["schema"], F>,
  ScopedKey<M["primaryKey"], F>,
  IndexesIn<ScopedIndexes<M["indexes"], F>>,
  RelationsIn<ScopedRelations<M["relations"], F>>,
  { readonly sum: undefined; readonly min: undefined; readonly max: undefined },
  M["softDelete"],
  ComputedOf<M>,
  TextsIn<ScopedIndexes<NonNullable<M["textIndexes"]>, F>>
>;

type ScopedSchema<Schema, F> =
  Schema extends z.ZodObject<infer Shape, infer Config>
    ? z.ZodObject<
        {
          [K in keyof Shape]: K extends F
            ? Shape[K] extends z.core.SomeType
              ? z.ZodDefault<Shape[K]>
              : Shape[K]
            : Shape[K];
        },
        Config
      >
    : never;

/** Primary key, fields → the key without them. */
type ScopedKey<Key extends string | readonly string[], F> = Key extends readonly string[]
  ? Without<Key, F>
  : Key;

/** Indexes, fields → those whose keys have all of the fields, without these. */
type ScopedIndexes<Indexes, F> = {
  readonly [N in keyof Indexes as Indexes[N] extends { readonly key: unknown }
    ? [Exclude<F, PartOf<Indexes[N]["key"]>>] extends [never]
      ? N
      : never
    : never]: Indexes[N] extends { readonly key: unknown }
    ? Omit<Indexes[N], "key"> & { readonly key: Without<Listed<Indexes[N]["key"]>, F> }
    : never;
};

/** Relations, fields → the same relations, without these fields among those that they hold. */
type ScopedRelations<Relations, F> = {
  readonly [N in keyof Relations]: ScopedRelation<Relations[N], F>;
};

type ScopedRelation<R, F> =
  R extends BelongsTo<infer Target, infer Fields, infer Rule, infer Copy>
    ? BelongsTo<Target, Names<Fields, F>, Rule, Copy>
    : R extends HasMany<infer Target, infer Fields>
      ? HasMany<Target, Names<Fields, F>>
      : R extends HasOne<infer Target, infer Fields>
        ? HasOne<Target, Names<Fields, F>>
        : R extends ManyToMany<infer Target, infer Through, infer From, infer To>
          ? ManyToMany<Target, Through, Names<From, F>, Names<To, F>>
          : never;

/** Names, others → the names without the others. */
type Names<List extends readonly string[], F> = Extract<Without<List, F>, readonly string[]>;

/** The same of full-text indexes. */
type TextsIn<Texts> = Texts extends AnyTextIndexes ? Texts : never;

/** Narrows the result of `ScopedRelations`, which the compiler cannot derive. */
type RelationsIn<Relations> = Relations extends AnyRelations ? Relations : never;

type PartOf<Key> = Key extends readonly (infer Part)[] ? Part : Key;
type Listed<Key> = Key extends readonly unknown[] ? Key : readonly [Key];

/** List, members → the list without them: `["tenantId", "id"]`, `"tenantId"` → `["id"]`. */
type Without<List extends readonly unknown[], F> = List extends readonly [
  infer First,
  ...infer Rest,
]
  ? First extends F
    ? Without<Rest, F>
    : readonly [First, ...Without<Rest, F>]
  : readonly [];

/** Narrows the result of `ScopedIndexes`, which the compiler cannot derive. */
type IndexesIn<Indexes> = Indexes extends AnyIndexes ? Indexes : never;
