import type * as z from "zod";
import type { CheckedAggregates } from "./aggregates/checked-aggregates.js";
import type { DecimalField } from "./aggregates/decimal.js";
import { assertModelOptions, compileModel } from "./compile-model.js";
import type { CheckedIndexes, KeyedIndexes, TextIndexesIn } from "./indexes/checked-index.js";
import { isTextIndex } from "./indexes/compile-text-index.js";
import type { FieldOf, RequiredKeyField } from "./indexes/field-types.js";
import type { IndexDefinition } from "./indexes/index-definition.js";
import type { AnyDeclaredIndexes, AnyRelations, Model } from "./model.js";
import type { AnyComputed, CheckedComputed, ComputedFunctions } from "./options/computed-types.js";
import type { CannotMark } from "./type-errors.js";

/**
 * Defines a model. The schema remains a plain Zod schema, which forms and API validation can share.
 *
 * ```ts
 * const User = defineModel({
 *   name: "users",
 *   schema: z.object({ id: z.ulid(), email: z.email(), favoriteColor: z.string() }),
 *   primaryKey: "id",
 *   indexes: {
 *     byEmail: { key: "email", unique: true, normalize: "lowercase" },
 *     byFavoriteColor: { key: "favoriteColor" },
 *   },
 * });
 * ```
 *
 * Rows are stored under `["users", id]`. Entries of the unique index are stored under
 * `["users_by_email", email]`, and those of the other index under
 * `["users_by_favorite_color", color, id]`. The value of an entry is the id.
 *
 * @param definition.name the name of the model, and the first part of the keys of its rows.
 * @param definition.prefix the first part of the keys, if it is not the name. A renamed model keeps
 * its rows this way.
 * @param definition.primaryKey one field, or several in order. If it is a single `z.ulid()` and
 * absent from the data, `create` generates it.
 * @param definition.relations relations to other models, by the names of these models:
 * `belongsTo("users", "authorId")`.
 * @param definition.computed fields of returned rows that are not stored, each a pure function of
 * the stored row: `{ initial: (row) => row.name.charAt(0) }`.
 * @param definition.count maintains the number of rows, so that `count()` reads one entry.
 * @param definition.sum maintains the sum of fields over all rows. Includes `count`.
 * @param definition.min keeps the rows in the order of these fields, for their minimum.
 * @param definition.max the same for their maximum.
 * @param definition.timestamps maintains the fields `createdAt` and `updatedAt`. Both need a
 * default in the schema: `z.date().default(() => new Date())`.
 * @param definition.softDelete a nullable or optional date of the schema. A delete then sets it,
 * and reads leave the row out, until `restore` clears it or `purge` removes the row.
 * @param definition.live keeps a record of changes, for live queries on databases that keep none.
 * @throws {ModelDefinitionError} if the definition contradicts itself or the schema, for example if
 * the schema lacks a field, a list contains a field twice, or two indexes have the same prefix.
 */
export function defineModel<
  const Name extends string,
  Schema extends z.ZodObject,
  const PrimaryKey extends
    | RequiredKeyField<z.output<Schema>>
    | readonly [RequiredKeyField<z.output<Schema>>, ...RequiredKeyField<z.output<Schema>>[]],
  const Indexes extends AnyDeclaredIndexes = Record<never, never>,
  const Relations extends AnyRelations = Record<never, never>,
  const Sum extends readonly (string | DecimalField)[] | undefined = undefined,
  const Min extends readonly string[] | undefined = undefined,
  const Max extends readonly string[] | undefined = undefined,
  const SoftDelete extends string | undefined = undefined,
  Computed extends AnyComputed = Record<never, never>,
>(
  definition: {
    readonly name: Name;
    readonly prefix?: string | undefined;
    readonly schema: Schema;
    readonly primaryKey: PrimaryKey;
    readonly indexes?: Indexes & Readonly<Record<string, IndexDefinition<z.output<Schema>>>>;
    readonly relations?: Relations;
    readonly computed?: ComputedFunctions<z.output<Schema>, Computed> | undefined;
    readonly count?: boolean;
    readonly sum?: Sum;
    readonly min?: Min;
    readonly max?: Max;
    readonly timestamps?: boolean;
    readonly softDelete?: SoftDelete;
    readonly live?: boolean;
  } & {
    readonly indexes?: CheckedIndexes<z.output<Schema>, NoInfer<Indexes>>;
    readonly computed?:
      | CheckedComputed<z.output<Schema>, NoInfer<Relations>, NoInfer<Computed>>
      | undefined;
  } & CheckedAggregates<z.output<Schema>, NoInfer<Sum>, NoInfer<Min>, NoInfer<Max>> &
    CheckedSoftDelete<z.output<Schema>, NoInfer<SoftDelete>>,
): Model<
  Name,
  Schema,
  PrimaryKey,
  KeyedIndexes<NoInfer<Indexes>>,
  NoInfer<Relations>,
  { readonly sum: Sum; readonly min: Min; readonly max: Max },
  SoftDelete,
  NoInfer<Computed>,
  TextIndexesIn<NoInfer<Indexes>>
> {
  assertModelOptions(definition);
  const { name, prefix, schema, primaryKey, count = false, live = false } = definition;
  const { indexes = {} as Indexes, relations = {} as Relations } = definition;
  const { sum, min, max, timestamps = false, softDelete, computed } = definition;
  const { keyed, texts } = byKind(indexes);
  const model: Model<
    Name,
    Schema,
    PrimaryKey,
    KeyedIndexes<Indexes>,
    Relations,
    { readonly sum: Sum; readonly min: Min; readonly max: Max },
    SoftDelete,
    Computed,
    TextIndexesIn<Indexes>
  > = {
    name,
    ...(prefix !== undefined && { prefix }),
    schema,
    primaryKey,
    indexes: keyed as KeyedIndexes<Indexes>,
    ...(texts !== undefined && { textIndexes: texts as TextIndexesIn<Indexes> }),
    relations,
    ...(computed !== undefined && { computed }),
    count,
    ...(sum !== undefined && { sum }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    timestamps,
    ...(softDelete !== undefined && { softDelete }),
    live,
  };
  compileModel(model);
  return Object.freeze(model);
}

/** Divides the indexes of a definition. `texts` is undefined if there is no full-text index. */
function byKind(indexes: AnyDeclaredIndexes): {
  readonly keyed: AnyDeclaredIndexes;
  readonly texts: AnyDeclaredIndexes | undefined;
} {
  const all = typeof indexes === "object" && indexes !== null ? Object.entries(indexes) : [];
  const texts = all.filter(([, definition]) => isTextIndex(definition));
  if (texts.length === 0) return { keyed: indexes, texts: undefined };
  const keyed = all.filter(([, definition]) => !isTextIndex(definition));
  return { keyed: Object.fromEntries(keyed), texts: Object.fromEntries(texts) };
}

/** True if a value has the shape of a model, even if another copy of this package made it. */
export function isModel(value: unknown): value is Model {
  if (typeof value !== "object" || value === null) return false;
  const { name, schema, primaryKey, indexes } = value as Partial<Record<keyof Model, unknown>>;
  return (
    typeof name === "string" &&
    (typeof primaryKey === "string" || Array.isArray(primaryKey)) &&
    typeof indexes === "object" &&
    typeof schema === "object" &&
    schema !== null &&
    "_zod" in schema
  );
}

/**
 * Row, `softDelete` → unknown if it names a date that rows may lack, or is not known to the
 * compiler. Otherwise a type error.
 */
type CheckedSoftDelete<Row, F> = [F] extends [undefined]
  ? unknown
  : string extends F
    ? unknown
    : [F] extends [DateThatRowsMayLack<Row>]
      ? unknown
      : {
          readonly softDelete: CannotMark<
            F,
            "softDelete needs a nullable or optional date of the schema: deletedAt: z.date().nullable().default(null)"
          >;
        };

/** Row → the names of its dates that may be null or undefined. */
type DateThatRowsMayLack<Row> = {
  [F in FieldOf<Row>]-?: [Exclude<Row[F], null | undefined>] extends [Date]
    ? [Extract<Row[F], null | undefined>] extends [never]
      ? never
      : F
    : never;
}[FieldOf<Row>];
