import type { FieldOf } from "../model/indexes/field-types.js";
import type { AnyModels, Model, PrimaryKeyFields, Row } from "../model/model.js";
import type {
  BelongsTo,
  HasMany,
  ManyToMany,
  Relation,
} from "../model/relations/relation-definition.js";
import type { CannotHold, LeadsNowhere, NeedsStrictNullChecks } from "../model/type-errors.js";
import type { ModelNamed, ModelsByName } from "./repository/options/include-types.js";

/**
 * `true` if the program is compiled with `strictNullChecks`. Without it, every type includes
 * undefined, so the compiler cannot tell which fields a query names.
 */
export type IsStrict = undefined extends string ? false : true;

/** The type error of a program that is compiled without `strictNullChecks`. */
export type NotStrict =
  NeedsStrictNullChecks<"set strict, or at least strictNullChecks, to true in tsconfig.json">;

/**
 * Models → unknown for each model whose relations are valid, and type errors for the other
 * relations. A relation is not valid if its model is missing, if the model lacks its fields, or if
 * these cannot hold the primary key to which they refer.
 */
export type CheckedModels<Models extends AnyModels> = IsStrict extends true
  ? CheckedRelations<Models>
  : NotStrict;

/**
 * Models → the same models. A model with an invalid relation becomes a type that no model has: `{
 * "boss: no model in models has this name; …": LeadsNowhere<"bosses", …> }`. A message about a
 * missing property begins with its name, so it says first what is wrong.
 */
export type AcceptedModels<Models extends AnyModels> = IsStrict extends true
  ? [InvalidModel<Models>] extends [never]
    ? Models
    : {
        readonly [K in keyof Models]: K extends InvalidModel<Models>
          ? Problems<CheckedRelations<Models>[K]>
          : Models[K];
      }
  : Models & NotStrict;

/** Models → the names of those with a relation that is not valid. */
type InvalidModel<Models extends AnyModels> = {
  [K in keyof Models]: [keyof Problems<CheckedRelations<Models>[K]>] extends [never] ? never : K;
}[keyof Models];

/** Checked model → its type errors, by the name of the relation and the message. */
type Problems<Checked> = Checked extends { readonly relations: infer Relations }
  ? {
      readonly [R in keyof Relations as unknown extends Relations[R]
        ? never
        : `${R & string}: ${MessageOf<Relations[R]>}`]: Relations[R];
    }
  : Record<never, never>;

type MessageOf<E> = E extends LeadsNowhere<unknown, infer Message> ? Message : string;

type CheckedRelations<Models extends AnyModels> = {
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
 * Model, relation → true if the relation is of the most common form and valid: one field that holds
 * a primary key of one field. This test takes a fraction of the time of the full check, which would
 * dominate the time for checking many models.
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
          "no model in models has this name; add the model, or use the name of another one"
        >;

/** Relation → the names of its target model and of its `through` model. */
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
 * Model, fields, another model → unknown if the first model has these fields, there are as many as
 * the primary key of the other model has, and they can hold that primary key. Otherwise a type
 * error.
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
              "give the field the type of the primary key that it holds"
            >
        : LeadsNowhere<
            Fields[number],
            "name one field for each field of the primary key that they hold, in its order"
          >
      : LeadsNowhere<
          Exclude<Fields[number], FieldOf<Row<Holder>>>,
          "the model that refers to the other has no such field; add it to its schema, or name another one"
        >
  : unknown;

/** Row, fields, other row, its primary key → the fields that cannot hold the part they refer to. */
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

/** Either type may be the narrower one, such as a union of known ids, or an id with a brand. */
type Misfit<Holder, F, Held, K> = F extends keyof Holder
  ? K extends keyof Held
    ? [NonNullable<Holder[F]>] extends [NonNullable<Held[K]>]
      ? never
      : [NonNullable<Held[K]>] extends [NonNullable<Holder[F]>]
        ? never
        : F
    : never
  : never;

/** Row, fields → unknown if at least one field may be null or undefined, otherwise a type error. */
type Clears<Holder, Fields> = Fields extends readonly (infer F extends string)[]
  ? string extends F
    ? unknown
    : true extends ClearedBy<Holder, F>
      ? unknown
      : CannotHold<
          F,
          "setNull needs a nullable or optional field; change the field, or choose another onDelete"
        >
  : unknown;

/** Row, field → true if it may be null or undefined, or does not exist, which `Holds` refuses. */
type ClearedBy<Holder, F extends string> = F extends keyof Holder
  ? null extends Holder[F]
    ? true
    : undefined extends Holder[F]
      ? true
      : false
  : true;
