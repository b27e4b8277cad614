import type { AnyModels, CreateInput, Model, Row } from "../../model/model.js";
import type {
  BelongsTo,
  HasMany,
  HasOne,
  ManyToMany,
} from "../../model/relations/relation-definition.js";
import type { UpdateInput } from "../../model/rows/update-input.js";
import type { CannotWriteNested } from "../../model/type-errors.js";
import type { UniqueWhere } from "../../read/types/where-types.js";
import type { ModelNamed } from "./include-types.js";

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

/** One item, or a list of items. */
type OneOrMany<T> = T | readonly T[];

/** The rows to create or to connect with a new row. */
interface NewRow<M extends Model, Models extends AnyModels, Filled extends string> {
  /** Create the row to which the relation leads. */
  readonly create?: CreateData<M, Models, Filled> | undefined;
  /** Let the relation lead to an existing row. */
  readonly connect?: UniqueWhere<M> | undefined;
  /** Let the relation lead to the row with a key, which is created if it does not exist. */
  readonly connectOrCreate?: ConnectOrCreate<M, Models, Filled> | undefined;
}

/** The same for a relation to many rows. Each operation accepts one row or a list of them. */
interface NewRows<M extends Model, Models extends AnyModels, Filled extends string> {
  /** Create rows to which the relation leads. */
  readonly create?: OneOrMany<CreateData<M, Models, Filled>> | undefined;
  /** Let the relation lead to existing rows. */
  readonly connect?: OneOrMany<UniqueWhere<M>> | undefined;
  /** Let the relation lead to rows with these keys. Those that do not exist are created. */
  readonly connectOrCreate?: OneOrMany<ConnectOrCreate<M, Models, Filled>> | undefined;
}

interface ConnectOrCreate<M extends Model, Models extends AnyModels, Filled extends string> {
  readonly where: UniqueWhere<M>;
  readonly create: CreateData<M, Models, Filled>;
}

/** `Cleared` is the type of `disconnect`: an error if the relation must lead to a row. */
interface ChangedRow<M extends Model, Models extends AnyModels, Filled extends string, Cleared, D>
  extends NewRow<M, Models, Filled> {
  /** Empty the reference. The row stays. */
  readonly disconnect?: Cleared | undefined;
  /** Delete the row. */
  readonly delete?: D | undefined;
  /** Change the row. */
  readonly update?: UpdateData<M, Models, Filled> | undefined;
  /** Change the row, or create it if there is none. */
  readonly upsert?:
    | {
        readonly create: CreateData<M, Models, Filled>;
        readonly update: UpdateData<M, Models, Filled>;
      }
    | undefined;
}

interface ChangedRows<M extends Model, Models extends AnyModels, Filled extends string, Cleared>
  extends NewRows<M, Models, Filled> {
  /** Let the relation lead to these rows, and no longer to any others. */
  readonly set?: (Cleared extends true ? OneOrMany<UniqueWhere<M>> : Cleared) | undefined;
  /** Let the relation no longer lead to these rows. They stay. */
  readonly disconnect?: (Cleared extends true ? OneOrMany<UniqueWhere<M>> : Cleared) | undefined;
  /** Delete these rows. The relation must lead to them. */
  readonly delete?: OneOrMany<UniqueWhere<M>> | undefined;
  /** Change rows to which the relation leads. */
  readonly update?:
    | OneOrMany<{
        readonly where: UniqueWhere<M>;
        readonly data: UpdateData<M, Models, Filled>;
      }>
    | undefined;
  /** Change rows to which the relation leads, or create them if it does not lead to them. */
  readonly upsert?:
    | OneOrMany<{
        readonly where: UniqueWhere<M>;
        readonly create: CreateData<M, Models, Filled>;
        readonly update: UpdateData<M, Models, Filled>;
      }>
    | undefined;
}

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
        IfCleared<ModelNamed<Models, T>, F[number]>
      >
    : R extends HasOne<infer T, infer F>
      ? ChangedRow<
          ModelNamed<Models, T>,
          Models,
          F[number],
          IfCleared<ModelNamed<Models, T>, F[number]>,
          true
        >
      : R extends ManyToMany<infer T, infer Through, infer From, infer To>
        ? IfOnlyLinks<
            ModelNamed<Models, Through>,
            From[number] | To[number],
            ChangedRows<ModelNamed<Models, T>, Models, never, true>
          >
        : R extends BelongsTo<infer T, infer F>
          ? ChangedRow<
              ModelNamed<Models, T>,
              Models,
              never,
              IfCleared<M, F[number]>,
              IfCleared<M, F[number]>
            >
          : never;

/** Model, fields → true if one of the fields can be empty, otherwise a type error. */
type IfCleared<M extends Model, F extends string> = [
  Extract<Row<M>[F & keyof Row<M>], null | undefined>,
] extends [never]
  ? CannotWriteNested<"its field cannot be empty; connect the row to another one, or delete it">
  : true;

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
