import type { AnyModels, CreateInput, Model, Row } from "../../../model/model.js";
import type {
  BelongsTo,
  HasMany,
  HasOne,
  ManyToMany,
} from "../../../model/relations/relation-definition.js";
import type { UpdateInput } from "../../../model/rows/update-input.js";
import type { CannotWriteNested } from "../../../model/type-errors.js";
import type { UniqueWhere } from "../../../read/types/where-types.js";
import type { ModelNamed } from "./include-types.js";
import type {
  IfClearable,
  NestedRow,
  NestedRowChange,
  NestedRows,
  NestedRowsChange,
} from "./nested-operations.js";

/**
 * Model → the data of `create`: the fields of the new row, and operations on the rows to which its
 * relations lead. A field that refers to another row can be left out if its relation is given.
 *
 * `Filled` are fields that the row above determines. The data does not contain them.
 */
export type CreateData<
  M extends Model,
  Models extends AnyModels,
  Filled extends string = never,
> = keyof M["relations"] extends never
  ? Without<CreateInput<M>, Filled>
  : Flat<
      Without<CreateInput<M>, Filled | FieldOf<M["relations"][OwnReference<M, Filled>]>> &
        References<M, Models, Filled> & {
          readonly [R in OtherRelation<M>]?: CreateThrough<M["relations"][R], Models> | undefined;
        }
    >;

/**
 * Model → the data of `update`: the changes of the row's fields, and operations on the rows to
 * which its relations lead. `Filled` are fields that the data does not contain.
 */
export type UpdateData<
  M extends Model,
  Models extends AnyModels,
  Filled extends string = never,
> = keyof M["relations"] extends never
  ? Without<UpdateInput<M>, Filled>
  : Flat<
      Without<UpdateInput<M>, Filled> & {
        readonly [R in OwnReference<M, Filled> | OtherRelation<M>]?:
          | UpdateThrough<M, M["relations"][R], Models>
          | undefined;
      }
    >;

// Interfaces, because the data of related rows is resolved only when it is used: models that refer
// to each other would otherwise have no end.

interface NewRow<M extends Model, Models extends AnyModels, Filled extends string>
  extends NestedRow<CreateData<M, Models, Filled>, UniqueWhere<M>> {}

interface NewRows<M extends Model, Models extends AnyModels, Filled extends string>
  extends NestedRows<CreateData<M, Models, Filled>, UniqueWhere<M>> {}

interface ChangedRow<
  M extends Model,
  Models extends AnyModels,
  Filled extends string,
  Reference,
  Deleted,
> extends NestedRowChange<
    CreateData<M, Models, Filled>,
    UpdateData<M, Models, Filled>,
    UniqueWhere<M>,
    Reference,
    Deleted
  > {}

interface ChangedRows<M extends Model, Models extends AnyModels, Filled extends string, Reference>
  extends NestedRowsChange<
    CreateData<M, Models, Filled>,
    UpdateData<M, Models, Filled>,
    UniqueWhere<M>,
    Reference
  > {}

type CreateThrough<R, Models extends AnyModels> =
  R extends HasMany<infer T, infer F>
    ? NewRows<ModelNamed<Models, T>, Models, F[number]>
    : R extends HasOne<infer T, infer F>
      ? NewRow<ModelNamed<Models, T>, Models, F[number]>
      : R extends ManyToMany<infer T, infer Through, infer From, infer To>
        ? IfOnlyLinks<
            ModelNamed<Models, Through>,
            From[number] | To[number],
            NewRows<ModelNamed<Models, T>, Models, never>
          >
        : R extends BelongsTo<infer T>
          ? NewRow<ModelNamed<Models, T>, Models, never>
          : never;

type UpdateThrough<M extends Model, R, Models extends AnyModels> =
  R extends HasMany<infer T, infer F>
    ? ChangedRows<
        ModelNamed<Models, T>,
        Models,
        F[number],
        Referring<ModelNamed<Models, T>, F[number]>
      >
    : R extends HasOne<infer T, infer F>
      ? ChangedRow<
          ModelNamed<Models, T>,
          Models,
          F[number],
          Referring<ModelNamed<Models, T>, F[number]>,
          true
        >
      : R extends ManyToMany<infer T, infer Through, infer From, infer To>
        ? IfOnlyLinks<
            ModelNamed<Models, Through>,
            From[number] | To[number],
            ChangedRows<ModelNamed<Models, T>, Models, never, null>
          >
        : R extends BelongsTo<infer T, infer F>
          ? ChangedRow<
              ModelNamed<Models, T>,
              Models,
              never,
              Referring<M, F[number]>,
              IfClearable<Referring<M, F[number]>>
            >
          : never;

/** Model, fields of a reference → the type of their values. */
type Referring<M extends Model, F extends string> = Row<M>[F & keyof Row<M>];

/** Model between two others, its references → the type if the model needs no other fields. */
type IfOnlyLinks<Through extends Model, F extends string, T> =
  Record<never, never> extends Without<CreateInput<Through>, F>
    ? T
    : CannotWriteNested<"the rows between need further fields; create them yourself">;

/**
 * Type, fields → one object type without these fields. The compiler prints its properties instead
 * of its name, so that a message about a field begins with the field.
 */
export type Without<T, F extends PropertyKey> = { [K in keyof T as Exclude<K, F>]: T[K] } & {};

/** Union of intersections → union of objects with the same properties. */
type Flat<T> = T extends unknown ? { [K in keyof T]: T[K] } : never;

/** Relations → a union of the fields of the references among them. */
type FieldOf<R> = R extends BelongsTo<string, infer F> ? F[number] : never;

/** Model → the names of its relations that are not also the names of fields. */
type RelationName<M extends Model> = Exclude<keyof M["relations"], keyof M["schema"]["shape"]>;

/** Model → its `belongsTo` relations. Those that the row above determines are left out. */
type OwnReference<M extends Model, Filled extends string> = {
  [R in RelationName<M>]: M["relations"][R] extends BelongsTo<string, infer F>
    ? [Exclude<F[number], Filled>] extends [never]
      ? never
      : R
    : never;
}[RelationName<M>];

/** Model → its relations that are not `belongsTo`. */
type OtherRelation<M extends Model> = {
  [R in RelationName<M>]: M["relations"][R]["kind"] extends "belongsTo" ? never : R;
}[RelationName<M>];

/** Model → for each of its references the fields or the relation. All of them together. */
type References<M extends Model, Models extends AnyModels, Filled extends string> = [
  OwnReference<M, Filled>,
] extends [never]
  ? unknown
  : {
        [R in OwnReference<M, Filled>]: (
          given: Reference<M, R, Exclude<FieldOf<M["relations"][R]>, Filled>, Models>,
        ) => void;
      }[OwnReference<M, Filled>] extends (given: infer All) => void
    ? All
    : never;

/** Model, relation, its fields → the fields, or the relation and perhaps the fields. */
type Reference<M extends Model, R extends keyof M["relations"], F, Models extends AnyModels> =
  Record<never, never> extends Picked<CreateInput<M>, F>
    ? Picked<CreateInput<M>, F> & {
        readonly [N in R]?: CreateThrough<M["relations"][R], Models> | undefined;
      }
    : // The compiler reports the last one if neither is given.
        | (Partial<Picked<CreateInput<M>, F>> & {
            readonly [N in R]: CreateThrough<M["relations"][R], Models>;
          })
        | (Picked<CreateInput<M>, F> & { readonly [N in R]?: undefined });

/** Type, fields → the type with only these fields. */
type Picked<T, F> = { [K in keyof T as Extract<K, F>]: T[K] };
