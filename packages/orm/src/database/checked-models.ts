import type { FieldOf } from "../model/index-definition.js";
import type { AnyModels, Model, PrimaryKeyFields, Row } from "../model/model.js";
import type { BelongsTo, HasMany, ManyToMany, Relation } from "../model/relation-definition.js";
import type { CannotHold, LeadsNowhere } from "../model/type-errors.js";
import type { ModelNamed, ModelsByName } from "./repository/include-types.js";

/**
 * Models → what `createDatabase` cannot take of them: relations to models that are not among them, or by fields that a model
 * does not have or that cannot hold what they have to. Unknown for each model where all is well.
 */
export type CheckedModels<Models extends AnyModels> = {
  readonly [K in keyof Models]: keyof Models[K]["relations"] extends never
    ? unknown
    : {
        readonly relations: {
          readonly [R in keyof Models[K]["relations"]]: CheckedRelation<
            Models[K],
            Models[K]["relations"][R],
            Models,
            ModelsByName<Models>
          >;
        };
      };
};

type CheckedRelation<
  M extends Model,
  R extends Relation,
  Models extends AnyModels,
  ByName extends AnyModels,
> = IsPlain<M, R, ByName> extends true ? unknown : CheckedNames<M, R, Models>;

/**
 * Whether a relation is what most are, by one field with the values of a primary key of one field. It says so in a fraction
 * of the time that the whole check takes, which would be most of what checking many models costs.
 */
type IsPlain<M extends Model, R extends Relation, ByName extends AnyModels> =
  R extends BelongsTo<infer Name, readonly [infer F extends string], infer Rule>
    ? [Rule] extends ["setNull"]
      ? false
      : HoldsKey<M, F, ByName[Name]>
    : R extends HasMany<infer Name, readonly [infer F extends string]>
      ? HoldsKey<ByName[Name], F, M>
      : false;

type HoldsKey<Holder extends Model, F extends string, Held extends Model> =
  F extends FieldOf<Row<Holder>>
    ? Held["primaryKey"] extends FieldOf<Row<Held>>
      ? Row<Holder>[F] extends Row<Held>[Held["primaryKey"]] | null | undefined
        ? true
        : false
      : false
    : false;

type CheckedNames<M extends Model, R extends Relation, Models extends AnyModels> =
  ModelsByName<Models> extends { readonly [N in ModelNames<R>]: unknown }
    ? CheckedFields<M, R, ModelNamed<Models, R["model"]>, Models>
    : string extends ModelNames<R>
      ? unknown
      : LeadsNowhere<
          Exclude<ModelNames<R>, keyof ModelsByName<Models>>,
          "no model among models has this name: add it, or name another by its own name"
        >;

/** Relation → the names of the models that it leads to, and by. */
type ModelNames<R extends Relation> = R["model"] | (R extends ManyToMany ? R["through"] : never);

type CheckedFields<
  M extends Model,
  R extends Relation,
  Target extends Model,
  Models extends AnyModels,
> = R extends {
  readonly kind: "belongsTo";
  readonly fields: infer F;
  readonly onDelete: infer Rule;
}
  ? Holds<M, F, Target> & ([Rule] extends ["setNull"] ? Clears<Row<M>, F> : unknown)
  : R extends { readonly kind: "manyToMany"; readonly from: infer From; readonly to: infer To }
    ? R extends ManyToMany
      ? Holds<ModelNamed<Models, R["through"]>, From, M> &
          Holds<ModelNamed<Models, R["through"]>, To, Target>
      : unknown
    : R extends { readonly fields: infer F }
      ? Holds<Target, F, M>
      : unknown;

/**
 * Model, fields, another model → unknown where the fields are the first's, as many as the other's primary key has, and can
 * hold it.
 */
type Holds<Holder extends Model, Fields, Held extends Model> = Fields extends readonly string[]
  ? string extends Fields[number]
    ? unknown
    : [Exclude<Fields[number], FieldOf<Row<Holder>>>] extends [never]
      ? Fields["length"] extends PrimaryKeyFields<Held>["length"]
        ? [Misfits<Row<Holder>, Fields, Row<Held>, PrimaryKeyFields<Held>>] extends [never]
          ? unknown
          : CannotHold<
              Misfits<Row<Holder>, Fields, Row<Held>, PrimaryKeyFields<Held>>,
              "give the field the type that the primary key has which it holds"
            >
        : LeadsNowhere<
            Fields[number],
            "name as many fields as the primary key has that they hold, in its order"
          >
      : LeadsNowhere<
          Exclude<Fields[number], FieldOf<Row<Holder>>>,
          "the model that has to refer to the other has no such field: add it to its schema, or name another"
        >
  : unknown;

/** Row, fields, another row, its primary key → those of the fields that cannot hold the part of it in the same place. */
type Misfits<
  Holder,
  Fields extends readonly string[],
  Held,
  Key extends readonly string[],
> = Fields extends readonly [infer F extends string]
  ? Misfit<Holder, F, Held, Key[0]>
  : {
      readonly [I in keyof Fields]: I extends keyof Key
        ? Misfit<Holder, Fields[I], Held, Key[I]>
        : never;
    }[number];

/** Either of the two may be the narrower one: a list of the ids that there are, or an id with a brand. */
type Misfit<Holder, F, Held, K> = F extends keyof Holder
  ? K extends keyof Held
    ? [NonNullable<Holder[F]>] extends [NonNullable<Held[K]>]
      ? never
      : [NonNullable<Held[K]>] extends [NonNullable<Holder[F]>]
        ? never
        : F
    : never
  : never;

/** Row, fields → unknown where one of them may hold nothing. */
type Clears<Holder, Fields> = Fields extends readonly (infer F extends string)[]
  ? string extends F
    ? unknown
    : true extends ClearedBy<Holder, F>
      ? unknown
      : CannotHold<
          F,
          "setNull needs a field that may be absent: make it nullable or optional, or choose another onDelete"
        >
  : unknown;

/** Row, field → whether it may hold null or undefined. A field that the row does not have is refused by `Holds`. */
type ClearedBy<Holder, F extends string> = F extends keyof Holder
  ? null extends Holder[F]
    ? true
    : undefined extends Holder[F]
      ? true
      : false
  : true;
