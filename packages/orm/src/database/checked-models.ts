import type { FieldOf } from "../model/index-definition.js";
import type { AnyModels, Model, PrimaryKeyFields, Row } from "../model/model.js";
import type { ManyToMany, Relation } from "../model/relation-definition.js";
import type { LeadsNowhere } from "../model/type-errors.js";
import type { ModelNamed, ModelsByName } from "./include-types.js";

/**
 * Models → what `createDatabase` cannot take of them: relations to models that are not among them, or to fields that a
 * model does not have. Unknown for each model where all is well.
 */
export type CheckedModels<Models extends AnyModels> = {
  readonly [K in keyof Models]: keyof Models[K]["relations"] extends never
    ? unknown
    : {
        readonly relations: {
          readonly [R in keyof Models[K]["relations"]]: CheckedRelation<
            Models[K],
            Models[K]["relations"][R],
            Models
          >;
        };
      };
};

type CheckedRelation<M extends Model, R extends Relation, Models extends AnyModels> =
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
> = R extends { readonly kind: "belongsTo"; readonly fields: infer F }
  ? Holds<M, F, Target>
  : R extends { readonly kind: "manyToMany"; readonly from: infer From; readonly to: infer To }
    ? R extends ManyToMany
      ? Holds<ModelNamed<Models, R["through"]>, From, M> &
          Holds<ModelNamed<Models, R["through"]>, To, Target>
      : unknown
    : R extends { readonly fields: infer F }
      ? Holds<Target, F, M>
      : unknown;

/** Model, fields, another model → unknown where the fields are the first's and as many as the other's primary key has. */
type Holds<Holder extends Model, Fields, Held extends Model> = Fields extends readonly string[]
  ? string extends Fields[number]
    ? unknown
    : [Exclude<Fields[number], FieldOf<Row<Holder>>>] extends [never]
      ? Fields["length"] extends PrimaryKeyFields<Held>["length"]
        ? unknown
        : LeadsNowhere<
            Fields[number],
            "name as many fields as the primary key has that they hold, in its order"
          >
      : LeadsNowhere<
          Exclude<Fields[number], FieldOf<Row<Holder>>>,
          "the model that has to refer to the other has no such field: add it to its schema, or name another"
        >
  : unknown;
